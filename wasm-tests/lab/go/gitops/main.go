// Reads objects as GitOps tools do: by kstatus (kpt's, and Flux's copy, which Helm 4 has too), and by Lua as Argo CD 3.6.1 runs it.
//
// Usage: gitops ARGOCD-CM.YAML <INPUT, which is {"parameters": those of actions, "objects": [...]}; it prints a Reading for each object.
//
// The package util/lua of Argo CD is 1,400 packages with what it needs, most of Kubernetes' clients among them. So this has the same engine,
// with the same libraries open, and follows runLua, cleanReturnedObj, health.GetResourceHealth, RunResourceActionV2 and patchResource there.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	jsonpatch "github.com/evanphx/json-patch"
	flux "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
	kpt "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

const kind = "canary-ctl.io_Release"

type Input struct {
	Parameters map[string]string
	Objects    []*unstructured.Unstructured
}

type Settings struct {
	health  string
	actions Actions
}

type Actions struct {
	Discovery   string `json:"discovery.lua"`
	Definitions []struct {
		Name   string `json:"name"`
		Action string `json:"action.lua"`
	} `json:"definitions"`
}

type Health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type Reading struct {
	Kpt    string `json:"kpt"`
	Flux   string `json:"flux"`
	ArgoCd Health `json:"argoCd"`
	// The merge patch of each action; none where the action is disabled.
	Actions map[string]json.RawMessage `json:"actions"`
}

func settings(path string) (settings Settings, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return settings, err
	}
	var config v1.ConfigMap
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		return settings, err
	}
	settings.health = config.Data["resource.customizations.health."+kind]
	err = yaml.UnmarshalStrict([]byte(config.Data["resource.customizations.actions."+kind]), &settings.actions)
	return settings, err
}

func read(settings Settings, parameters map[string]string, object *unstructured.Unstructured) (reading Reading, err error) {
	byKpt, err := kpt.Compute(object)
	if err != nil {
		return reading, err
	}
	byFlux, err := flux.Compute(object)
	if err != nil {
		return reading, err
	}
	reading.Kpt, reading.Flux = byKpt.Status.String(), byFlux.Status.String()
	if object.GetDeletionTimestamp() != nil {
		reading.ArgoCd = Health{"Progressing", "Pending deletion"}
	} else if err := run(settings.health, parameters, object, &reading.ArgoCd); err != nil {
		return reading, fmt.Errorf("health: %w", err)
	}
	discovered := map[string]struct{ Disabled bool }{}
	if err := run(settings.actions.Discovery, parameters, object, &discovered); err != nil {
		return reading, fmt.Errorf("discovery: %w", err)
	}
	reading.Actions = map[string]json.RawMessage{}
	for name := range discovered {
		reading.Actions[name] = nil
	}
	for _, definition := range settings.actions.Definitions {
		if found, ok := discovered[definition.Name]; !ok || found.Disabled {
			continue
		}
		if reading.Actions[definition.Name], err = patch(definition.Action, parameters, object); err != nil {
			return reading, fmt.Errorf("%s: %w", definition.Name, err)
		}
	}
	return reading, nil
}

func patch(script string, parameters map[string]string, object *unstructured.Unstructured) (json.RawMessage, error) {
	changed := map[string]any{}
	if err := run(script, parameters, object, &changed); err != nil {
		return nil, err
	}
	before, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(cleaned(changed, object.Object))
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(before, after)
}

// Runs a script, and reads what it returns.
func run(script string, parameters map[string]string, object *unstructured.Unstructured, result any) error {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	// Argo CD opens a part of `os`, too.
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	} {
		err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name))
		if err != nil {
			return err
		}
	}
	given := state.NewTable()
	for name, value := range parameters {
		given.RawSetString(name, lua.LString(value))
	}
	state.SetGlobal("actionParams", given)
	state.SetGlobal("obj", value(state, object.Object))
	if err := state.DoString(script); err != nil {
		return err
	}
	text, err := luajson.Encode(state.Get(-1))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

func value(state *lua.LState, given any) lua.LValue {
	switch given := given.(type) {
	case bool:
		return lua.LBool(given)
	case float64:
		return lua.LNumber(given)
	case int64:
		return lua.LNumber(given)
	case string:
		return lua.LString(given)
	case []any:
		table := state.NewTable()
		for _, item := range given {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for name, item := range given {
			table.RawSetString(name, value(state, item))
		}
		return table
	}
	return lua.LNil
}

// Lua does not tell an empty map from an empty array.
func cleaned(changed, before any) any {
	switch changed := changed.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			for name := range changed {
				changed[name] = cleaned(changed[name], before[name])
			}
		}
	case []any:
		if _, ok := before.(map[string]any); ok && len(changed) == 0 {
			return map[string]any{}
		}
		if before, ok := before.([]any); ok {
			for i := range min(len(changed), len(before)) {
				changed[i] = cleaned(changed[i], before[i])
			}
		}
	}
	return changed
}

func print(path string) error {
	settings, err := settings(path)
	if err != nil {
		return err
	}
	var input Input
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		return err
	}
	readings := []Reading{}
	for _, object := range input.Objects {
		reading, err := read(settings, input.Parameters, object)
		if err != nil {
			return err
		}
		readings = append(readings, reading)
	}
	return json.NewEncoder(os.Stdout).Encode(readings)
}

func main() {
	if err := print(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Reads objects as GitOps tools do, by their own libraries: kstatus (kpt, and Flux and Helm 4 with a copy of theirs) and Argo CD's Lua.
//
// Usage: gitops ARGOCD-CM.YAML <INPUT, which is {"parameters": those of actions, "objects": [...]}; it prints a Reading for each object.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/argoproj/argo-cd/gitops-engine/v3/pkg/health"
	"github.com/argoproj/argo-cd/v3/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	jsonpatch "github.com/evanphx/json-patch"
	flux "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kpt "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

type Input struct {
	Parameters map[string]string
	Objects    []*unstructured.Unstructured
}

type Reading struct {
	Kpt    string               `json:"kpt"`
	Flux   string               `json:"flux"`
	ArgoCd *health.HealthStatus `json:"argoCd"`
	// The merge patch of each action, as Argo CD's server computes it; none where the action is disabled.
	Actions map[string]json.RawMessage `json:"actions"`
}

// As SettingsManager.appendResourceOverridesFromSplitKeys, whose package is most of Argo CD.
func overrides(settings map[string]string) map[string]v1alpha1.ResourceOverride {
	found := map[string]v1alpha1.ResourceOverride{}
	for key, value := range settings {
		parts := strings.SplitN(key, ".", 4)
		kind := strings.Replace(parts[3], "_", "/", 1)
		override := found[kind]
		switch parts[2] {
		case "health":
			override.HealthLua = value
		case "actions":
			override.Actions = value
		}
		found[kind] = override
	}
	return found
}

func read(settings map[string]v1alpha1.ResourceOverride, parameters map[string]string, object *unstructured.Unstructured) (reading Reading, err error) {
	byKpt, err := kpt.Compute(object)
	if err != nil {
		return reading, err
	}
	byFlux, err := flux.Compute(object)
	if err != nil {
		return reading, err
	}
	reading.Kpt, reading.Flux = byKpt.Status.String(), byFlux.Status.String()
	if reading.ArgoCd, err = health.GetResourceHealth(object, lua.ResourceHealthOverrides(settings)); err != nil {
		return reading, err
	}
	reading.Actions, err = actions(lua.VM{ResourceOverrides: settings}, parameters, object)
	return reading, err
}

func actions(vm lua.VM, parameters map[string]string, object *unstructured.Unstructured) (map[string]json.RawMessage, error) {
	discovery, err := vm.GetResourceActionDiscovery(object)
	if err != nil {
		return nil, err
	}
	discovered, err := vm.ExecuteResourceActionDiscovery(object, discovery)
	if err != nil {
		return nil, err
	}
	patches := map[string]json.RawMessage{}
	for _, action := range discovered {
		if action.Disabled {
			patches[action.Name] = nil
			continue
		}
		if patches[action.Name], err = patch(vm, action, parameters, object); err != nil {
			return nil, fmt.Errorf("%s: %w", action.Name, err)
		}
	}
	return patches, nil
}

// As RunResourceActionV2 and patchResource of Argo CD's server.
func patch(vm lua.VM, action v1alpha1.ResourceAction, parameters map[string]string, object *unstructured.Unstructured) (json.RawMessage, error) {
	definition, err := vm.GetResourceAction(object, action.Name)
	if err != nil {
		return nil, err
	}
	var given []*application.ResourceActionParameters
	for _, parameter := range action.Params {
		value := parameters[parameter.Name]
		given = append(given, &application.ResourceActionParameters{Name: &parameter.Name, Value: &value})
	}
	changed, err := vm.ExecuteResourceAction(object, definition.ActionLua, given)
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(changed[0].UnstructuredObj)
	if err != nil {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(before, after)
}

func run() error {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var settings v1.ConfigMap
	if err := yaml.UnmarshalStrict(text, &settings); err != nil {
		return err
	}
	var input Input
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		return err
	}
	readings := []Reading{}
	for _, object := range input.Objects {
		reading, err := read(overrides(settings.Data), input.Parameters, object)
		if err != nil {
			return err
		}
		readings = append(readings, reading)
	}
	return json.NewEncoder(os.Stdout).Encode(readings)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

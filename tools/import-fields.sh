#!/usr/bin/env bash
# Lists the fields of Flagger's and Argo Rollouts' kinds, from the schemas that the Go module proxy serves, for the test that compares them with
# the tables of `init --from-flagger` and `--from-argo`. Writes ctl/release/tests/import/fields/; run it when a peer has a new version.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source tools/go.sh

readonly FIELDS=ctl/release/tests/import/fields

have unzip || apt_install unzip || die "unzip is missing"
python3 -c 'import yaml' 2>/dev/null || apt_install python3-yaml || die "Python's yaml is missing" "Debian and Ubuntu: apt-get install python3-yaml"
need_go

# list MODULE VERSION NAME SCHEMA…: the paths of all fields of some schemas of a module.
list() {
    local module=$1 version=$2 name=$3 zip folder
    shift 3
    # A module that wants a later Go is downloaded, too, and nothing of it is compiled.
    zip=$(cd "$(mktemp -d)" && { go_here mod download -json "$module@$version" || true; } | sed -n 's/.*"Zip": "\(.*\)".*/\1/p')
    [ -n "$zip" ] || die "$module@$version cannot be downloaded"
    folder=$(mktemp -d)
    unzip -qo "$zip" "${@/#/$module@$version/}" -d "$folder"
    {
        echo "# Fields of the schemas of $module $version; written by tools/import-fields.sh. What is below a pod template or a Job is left out."
        (cd "$folder/$module@$version" && python3 - "$@") <<'PYTHON'
import sys, yaml

def walk(schema, path):
    if path.endswith(("spec.template", ".templates[].template", ".provider.job", "DuringExecution")):
        return
    for name, inner in (schema.get("properties") or {}).items():
        yield f"{path}.{name}" if path else name
        yield from walk(inner, f"{path}.{name}" if path else name)
    for form, mark in (("additionalProperties", ".*"), ("items", "[]")):
        if isinstance(schema.get(form), dict):
            yield from walk(schema[form], path + mark)

for file in sys.argv[1:]:
    for resource in filter(None, yaml.safe_load_all(open(file))):
        for version in resource["spec"]["versions"]:
            for path in walk(version["schema"]["openAPIV3Schema"], ""):
                if path.startswith("spec"):
                    print(resource["spec"]["names"]["kind"], path)
PYTHON
    } >"$FIELDS/$name.txt"
    rm -rf "$folder"
    say "$FIELDS/$name.txt: $(wc -l <"$FIELDS/$name.txt") lines"
}

mkdir -p "$FIELDS"
list github.com/fluxcd/flagger v1.44.0 flagger artifacts/flagger/crd.yaml
list github.com/argoproj/argo-rollouts v1.10.2 argo-rollouts manifests/crds/rollout-crd.yaml manifests/crds/analysis-template-crd.yaml \
    manifests/crds/cluster-analysis-template-crd.yaml

#!/usr/bin/env bash
# Runs every test after getting and building what they need. With CI=true a test that cannot run fails, none is skipped.
# Usage: tools/test.sh [quick|mesh|long]     all that has to pass; or one of the two parts that it has:
#   quick   lints, and the tests that need no Kubernetes
#   mesh    Kubernetes and Istio, which take minutes to build, the tests that need them, what is published, the demo
# And beside it, in a job of its own:
#   long    the tests of Kubernetes and the mesh that repeat another one with another Helm, Envoy, GitOps tool or fault, and the
#           Envoys between the oldest and the newest
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -le 1 ] || die "expected one part at most, found '$*'" "quick, mesh, long; all but long without one"
readonly PART=${1:-all}
case $PART in
all | quick | mesh | long) ;;
*) die "unknown part '$PART'" "quick, mesh, long; all but long without one" ;;
esac

# Of the lab's programs and of the compiler that builds them, which are Go: collecting garbage takes a tenth of their processor time.
export GOGC=400

# The test programs that need a Kubernetes.
readonly KUBERNETES=(api mesh)

# Every test program of the workspace but these, as `--test NAME`.
tests_but() {
    cargo metadata --no-deps --locked --format-version 1 | python3 -c '
import json, sys
packages = json.load(sys.stdin)["packages"]
names = {target["name"] for package in packages for target in package["targets"] if "test" in target["kind"]}
print("\n".join("--test\n" + name for name in sorted(names - set(sys.argv[1:]))))' "$@"
}

# Beside the other builds: Go's linker and rustc's last crates each leave a processor idle.
start_lab() {
    mkdir -p "$TARGET_DIR"
    say "building the lab beside the rest (its output: $TARGET_DIR/lab.log)"
    setsid nice tools/lab.sh >"$TARGET_DIR/lab.log" 2>&1 &
    LAB=$!
    trap 'kill -- "-$LAB" 2>/dev/null || true' EXIT
}

# The tests of the mesh, which wait for istiod and for pods most of the time, and all others beside them.
every_test() {
    local log=$TARGET_DIR/mesh.log status=0 others
    mapfile -t others < <(tests_but mesh)
    RUST_TEST_THREADS=$mesh_threads setsid cargo test --workspace --no-fail-fast --locked --test mesh >"$log" 2>&1 &
    MESH=$!
    trap 'kill -- "-$MESH" 2>/dev/null || true' EXIT
    cargo test --workspace --no-fail-fast --locked --lib --bins --examples "${others[@]}" || status=$?
    cargo test --workspace --no-fail-fast --locked --doc || status=$?
    say "the tests of the mesh"
    tail --pid="$MESH" -n +1 -f "$log"
    wait "$MESH" || status=$?
    trap - EXIT
    return "$status"
}

lab_is_built() {
    wait "$LAB" || {
        cat "$TARGET_DIR/lab.log" >&2
        die "the lab could not be built" "./x lab-tools"
    }
    trap - EXIT
}

[ "$PART" = quick ] || start_lab
[ "$PART" = mesh ] || [ "$PART" = long ] || stage "check" tools/check.sh
stage "filter" tools/wasm.sh
stage "Envoys" tools/envoy.sh
stage "nginx" tools/nginx.sh
stage "Chromium" tools/chromium.sh
stage "Prometheus" tools/prometheus.sh
stage "registry" tools/registry.sh
# One build with the same features for the tests and for the programs that they run; `cargo build -p` would make another.
stage "programs and tests" cargo test --workspace --no-run --locked
if [ "$PART" = quick ]; then
    mapfile -t tests < <(tests_but "${KUBERNETES[@]}")
    stage "tests" cargo test --workspace --no-fail-fast --locked --lib --bins --examples "${tests[@]}" -- --skip tests_as_root::
    stage "examples of the documentation" cargo test --workspace --no-fail-fast --locked --doc
    say "everything that needs no Kubernetes passed in $SECONDS s"
    exit
fi

stage "what is published" tools/dist.sh --quick
# The mesh tests install and run what was packed.
CANARY_ARCHIVE=$(realpath "$TARGET_DIR"/dist-quick/canary-ctl-*.tar.gz)
CANARY_IMAGE=$(realpath "$TARGET_DIR"/dist-quick/canary-ctl-*.oci.tar)
export CANARY_ARCHIVE CANARY_IMAGE
stage "lab" lab_is_built
# As many at a time as there are processors would leave half of the processors idle.
mesh_threads=${RUST_TEST_THREADS:-$(($(nproc) * 3 / 2))}
if [ "$PART" = long ]; then
    stage "load tester" tools/flagger.sh loadtester
    EVERY_ENVOY=1 stage "every Envoy" cargo test --workspace --no-fail-fast --locked --test envoy --test kit
    RUST_TEST_THREADS=$mesh_threads stage "long tests" cargo test --workspace --no-fail-fast --locked "${KUBERNETES[@]/#/--test=}" -- --ignored
    exit
elif [ "$PART" = all ]; then
    stage "tests" every_test
else
    RUST_TEST_THREADS=$mesh_threads stage "tests" cargo test --workspace --no-fail-fast --locked "${KUBERNETES[@]/#/--test=}"
    stage "tests of the lab" cargo test --workspace --no-fail-fast --locked --lib -- tests_as_root::
fi
stage "demo" "$TARGET_DIR"/debug/demo --once
# Envoy's V8 behaves differently on the two: a test may be red on one kind alone.
if grep -qsw ospke /proc/cpuinfo; then say "this processor has memory protection keys"; else
    say "this processor has no memory protection keys"
fi
say "everything passed in $SECONDS s"

#!/usr/bin/env bash
# Runs every test after getting and building what they need. With CI=true a test that cannot run fails, none is skipped.
# Usage: tools/test.sh [quick|mesh|long]     all that has to pass; or one of the two parts that it has:
#   quick   lints, and the tests that need no Kubernetes
#   mesh    Kubernetes and Istio, which take minutes to build, the tests that need them, what is published, the demo
# And beside it, in a job of its own:
#   long    the tests of Kubernetes and the mesh that repeat another one with another Helm, Envoy, GitOps tool or fault, those that
#           take longest, and the Envoys between the oldest and the newest
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -le 1 ] || die "expected one part at most, found '$*'" "quick, mesh, long; all but long without one"
readonly PART=${1:-all}
case $PART in
all | quick | mesh | long) ;;
*) die "unknown part '$PART'" "quick, mesh, long; all but long without one" ;;
esac

# Of the lab's programs, which are Go: collecting garbage takes a tenth of their processor time.
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

# cargo_test ARGUMENT…: tests of the workspace. Clippy compiles them and a warning is an error: `cargo clippy` and `cargo doc` would
# compile every dependency once more.
cargo_test() {
    RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings RUSTDOC=$PWD/tools/rustdoc.sh \
        cargo test --workspace --locked "$@"
}

# in_background LOG COMMAND…: in a process group of its own, which ends with this script; its id is in $!.
in_background() {
    local log=$TARGET_DIR/$1
    shift
    mkdir -p "$TARGET_DIR"
    set -m
    "$@" >"$log" 2>&1 &
    set +m
    GROUPS_TO_END+=("-$!")
}

GROUPS_TO_END=()
trap 'kill -- "${GROUPS_TO_END[@]}" 2>/dev/null || true' EXIT

# follow PID LOG: prints the log until that process has ended; fails as it did.
follow() {
    tail --pid="$1" -n +1 -f "$TARGET_DIR/$2"
    wait "$1"
}

# The mesh tests install and run what is packed here.
published() {
    stage "what is published" tools/dist.sh --quick || return
    CANARY_ARCHIVE=$(realpath "$TARGET_DIR"/dist-quick/canary-ctl-*.tar.gz)
    CANARY_IMAGE=$(realpath "$TARGET_DIR"/dist-quick/canary-ctl-*.oci.tar)
    export CANARY_ARCHIVE CANARY_IMAGE
}

lab_is_built() {
    wait "$LAB" || {
        cat "$TARGET_DIR/lab.log" >&2
        die "the lab could not be built" "./x lab-tools"
    }
}

# quick_tests [PROGRAM…]: the tests that need no Kubernetes, but those of these programs.
quick_tests() {
    local status=0 tests
    mapfile -t tests < <(tests_but "${KUBERNETES[@]}" "$@")
    cargo_test --no-fail-fast --lib --bins --examples "${tests[@]}" -- --skip tests_as_root:: || status=$?
    cargo_test --no-fail-fast --doc || status=$?
    return "$status"
}

# The demo after them: its Envoy takes ports that tests expect to be free.
quick_tests_and_demo() {
    local status=0
    quick_tests "$@" || status=$?
    stage "demo" "$TARGET_DIR"/debug/demo --once || status=$?
    return "$status"
}

# api_tests [PROGRAM]: those that need one, but the mesh: a real API server, and the lab's namespaces. And this program after them.
api_tests() {
    local status=0
    cargo_test --no-fail-fast --test api || status=$?
    cargo_test --no-fail-fast --lib -- tests_as_root:: || status=$?
    [ $# -eq 0 ] || cargo_test --no-fail-fast --test "$1" || status=$?
    return "$status"
}

# They wait for istiod and for pods most of the time: as many at a time as there are processors would leave half of them idle.
mesh_tests() {
    RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) * 3 / 2))} cargo_test --no-fail-fast --test mesh "$@"
}

# All of them, beside each other: many wait most of the time. The operations do not, so they run last: two threads of them use both
# processors.
every_test() {
    local status=0 quick api mesh
    in_background quick.log quick_tests_and_demo operations
    quick=$!
    published || status=$?
    stage "lab" lab_is_built
    in_background mesh.log mesh_tests
    mesh=$!
    in_background api.log api_tests operations
    api=$!
    say "the tests that need no Kubernetes, and the demo"
    follow "$quick" quick.log || status=$?
    say "the tests of Kubernetes' API"
    follow "$api" api.log || status=$?
    say "the tests of the mesh"
    follow "$mesh" mesh.log || status=$?
    return "$status"
}

[ "$PART" != long ] || export EVERY_ENVOY=1
if [ "$PART" != quick ]; then # beside the other builds: Go's linker and rustc's last crates each leave a processor idle
    say "building the lab beside the rest (its output: $TARGET_DIR/lab.log)"
    in_background lab.log tools/lab.sh
    LAB=$!
fi
case $PART in all | quick) stage "check" tools/check.sh --uncompiled ;; esac
stage "filter" tools/wasm.sh
stage "Envoys" tools/envoy.sh
stage "nginx" tools/nginx.sh
stage "Chromium" tools/chromium.sh
stage "Prometheus" tools/prometheus.sh
stage "registry" tools/registry.sh
# One build with the same features for the tests and for the programs that they run; `cargo build -p` would make another.
stage "programs, tests and lints" cargo_test --no-run
if [ "$PART" = quick ]; then
    stage "tests" quick_tests
    say "everything that needs no Kubernetes passed in $SECONDS s"
    exit
fi

case $PART in
all) stage "tests" every_test ;;
mesh)
    published
    stage "lab" lab_is_built
    stage "tests of Kubernetes' API" api_tests
    stage "tests of the mesh" mesh_tests
    stage "demo" "$TARGET_DIR"/debug/demo --once
    ;;
long)
    published
    stage "lab" lab_is_built
    stage "Flagger, Argo Rollouts, GitOps tools" tools/peers.sh flagger loadtester argo-rollouts gitops
    stage "every Envoy" cargo_test --no-fail-fast --test envoy --test kit
    stage "long tests" mesh_tests --test api --test controller -- --ignored
    exit
    ;;
esac
# Envoy's V8 behaves differently on the two: a test may be red on one kind alone.
if grep -qsw ospke /proc/cpuinfo; then say "this processor has memory protection keys"; else
    say "this processor has no memory protection keys"
fi
say "everything passed in $SECONDS s"

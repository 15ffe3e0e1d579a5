#!/usr/bin/env bash
# Runs every test after getting and building what they need. With CI=true a test that cannot run fails, none is skipped.
# Usage: tools/test.sh [--no-mesh]     (leaves out the tests on a real Kubernetes and Istio; building those takes minutes)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mesh=yes
for flag in "$@"; do
    case $flag in
    --no-mesh)
        [ "${CI:-}" != true ] || die "--no-mesh with CI=true: nothing may be left out there" "unset CI, or leave out --no-mesh"
        mesh=no
        ;;
    *) die "unknown flag '$flag'" "known: --no-mesh" ;;
    esac
done

stage "check" tools/check.sh
stage "filter" tools/wasm.sh
stage "Envoys" tools/envoy.sh
stage "nginx" tools/nginx.sh
stage "Chromium" tools/chromium.sh
stage "Prometheus" tools/prometheus.sh
stage "registry" tools/registry.sh
[ "$mesh" = no ] || stage "mesh" tools/lab.sh
if [ "$mesh" = yes ]; then
    # One build with the same features for the tests and for the programs that they run; `cargo build -p` would make another.
    stage "programs and tests" cargo test --workspace --no-run --locked
    stage "what is published" tools/dist.sh --quick
    # The mesh tests install and run what was packed.
    CANARY_ARCHIVE=$(realpath "$TARGET_DIR"/dist-quick/canary-ctl-*.tar.gz)
    CANARY_IMAGE=$(realpath "$TARGET_DIR"/dist-quick/canary-ctl-*.oci.tar)
    export CANARY_ARCHIVE CANARY_IMAGE
    # A test in the mesh waits for istiod and for pods: as many at a time as there are processors leave half of the processors idle.
    export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) * 3 / 2))}
    stage "tests" cargo test --workspace --no-fail-fast --locked
else
    stage "programs" cargo build --locked -p canary-ctl -p demo-shop -p demo
    stage "tests" cargo test --workspace --no-fail-fast --locked \
        --exclude wasm-tests --exclude mesh-lab
    # Every target of it but `mesh`: cargo has no flag for all tests but one.
    stage "tests of the filter" cargo test --locked -p wasm-tests --no-fail-fast --lib --bins --test architecture --test links --test traced \
        --test registry --test kit --test wasm --test fuzz --test envoy --test dashboard
    stage "tests of the lab" cargo test --locked -p mesh-lab --no-fail-fast -- --skip space:: # which takes root, as the mesh does
    stage "examples of the filter's tests" cargo test --locked -p wasm-tests --doc
fi
stage "demo" "$TARGET_DIR"/debug/demo --once
# Envoy's V8 behaves differently on the two: a test may be red on one kind alone.
if grep -qsw ospke /proc/cpuinfo; then say "this processor has memory protection keys"; else
    say "this processor has no memory protection keys"
fi
if [ "$mesh" = yes ]; then say "everything passed in $SECONDS s"; else
    say "everything but the mesh passed in $SECONDS s (--no-mesh: neither Istio nor Kubernetes was built or tested, and nothing was packed)"
fi

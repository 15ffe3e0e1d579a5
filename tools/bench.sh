#!/usr/bin/env bash
# Gets and builds what the benchmark compares, then runs it; arguments go to the program (`./x bench --help`).
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

have wrk && have taskset || apt_install wrk util-linux || die "wrk or taskset is missing; the benchmark makes its load with wrk" \
    "Debian and Ubuntu: apt-get install wrk util-linux"
have callgrind_control || apt_install valgrind || die "valgrind is missing; the benchmark counts instructions with it" \
    "Debian and Ubuntu: apt-get install valgrind"
tools/wasm.sh
tools/baselines.sh
tools/envoy.sh 1.40 >/dev/null
say "building the benchmark"
# Before the run: a compiler beside it would be noise. Unoptimised: what is timed are Envoy, wrk and canary-ctl.
cargo build --quiet --locked --manifest-path wasm-tests/studies/Cargo.toml --target-dir "$TARGET_DIR" -p bench
cargo build --quiet --locked --release -p canary-ctl
exec "$TARGET_DIR"/debug/bench "$@"

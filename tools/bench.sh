#!/usr/bin/env bash
# Gets and builds what the benchmark compares, then runs it; arguments go to the program (`./x bench --help`).
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

have wrk && have taskset || apt_install wrk util-linux || die "wrk or taskset is missing; the benchmark makes its load with wrk" \
    "Debian and Ubuntu: apt-get install wrk util-linux"
tools/wasm.sh
tools/baselines.sh
tools/envoy.sh 1.40 >/dev/null
say "building the benchmark"
cargo build --quiet --release -p wasm-tests --bin bench # before the run: a compiler beside it would be noise
exec "$TARGET_DIR"/release/bench "$@"

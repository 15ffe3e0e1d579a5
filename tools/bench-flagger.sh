#!/usr/bin/env bash
# Gets and builds what the study beside Flagger needs, then runs it: docs/flagger-side-by-side.md.
# Usage: tools/bench-flagger.sh [--good N] [--broken N] [--parallel N] [--resume]
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/lab.sh
tools/peers.sh flagger
tools/wasm.sh
tools/envoy.sh 1.40 >/dev/null
tools/prometheus.sh >/dev/null
say "building canary-ctl, the demo shop and the study"
cargo build --quiet --locked -p canary-ctl -p demo-shop
cargo build --quiet --locked --manifest-path wasm-tests/studies/Cargo.toml --target-dir "$TARGET_DIR" --bin flagger
exec "$TARGET_DIR"/debug/flagger "$@"

#!/usr/bin/env bash
# Gets and builds what the measurement of arrivals needs, then runs it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/lab.sh
tools/wasm.sh
tools/envoy.sh 1.40 >/dev/null
say "building canary-ctl, the demo shop and the measurement"
cargo build --quiet --locked -p canary-ctl -p demo-shop
cargo build --quiet --locked --manifest-path wasm-tests/studies/Cargo.toml --target-dir "$TARGET_DIR" --bin arrival
exec "$TARGET_DIR"/debug/arrival

#!/usr/bin/env bash
# Gets and builds what the study of rollouts needs, then runs it: docs/rollouts-under-load.md; arguments go to the program (`--help`).
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/lab.sh
tools/wasm.sh
tools/envoy.sh 1.40 >/dev/null
say "building canary-ctl, the demo shop and the study"
cargo build --quiet --locked -p canary-ctl -p demo-shop
cargo build --quiet --locked --manifest-path wasm-tests/studies/Cargo.toml --target-dir "$TARGET_DIR" --bin rollouts
exec "$TARGET_DIR"/debug/rollouts "$@"

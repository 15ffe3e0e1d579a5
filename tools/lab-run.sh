#!/usr/bin/env bash
# Gets and builds what the lab needs, then runs it until Ctrl-C; arguments go to the program (`./x lab --help`).
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/lab.sh
tools/wasm.sh
tools/envoy.sh >/dev/null
say "building canary-ctl, the demo shop and the lab"
# Not quietly: cargo says what it builds, and that it waits for another run.
cargo build --locked -p canary-ctl -p demo-shop
cargo build --locked -p wasm-tests --bin lab
exec "$TARGET_DIR"/debug/lab "$@"

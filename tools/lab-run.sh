#!/usr/bin/env bash
# Gets and builds what the lab needs, then runs it until Ctrl-C; arguments go to the program (`./x lab --help`).
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/lab.sh
tools/wasm.sh
tools/envoy.sh >/dev/null
say "building canary-ctl, the demo shop and the lab"
cargo build --quiet --locked -p canary-ctl -p demo-shop
cargo build --quiet --locked -p wasm-tests --bin lab
exec "$TARGET_DIR"/debug/lab "$@"

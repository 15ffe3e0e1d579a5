#!/usr/bin/env bash
# Builds and gets what the demo needs, then runs it; arguments go to `canary-ctl demo`.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/wasm.sh
tools/envoy.sh 1.40 >/dev/null
say "building canary-ctl and the demo shop"
cargo build --quiet -p canary-ctl -p demo-shop
exec "$TARGET_DIR"/debug/canary-ctl demo "$@"

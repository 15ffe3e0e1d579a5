#!/usr/bin/env bash
# Builds and gets what the demo needs, then runs it; arguments go to `canary-ctl demo`.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/wasm.sh
CANARY_DEMO_ENVOY=${CANARY_DEMO_ENVOY:-$(tools/envoy.sh 1.40)}
say "building canary-ctl and the demo shop"
cargo build --quiet -p canary-ctl -p demo-shop
export CANARY_DEMO_ENVOY
export CANARY_DEMO_FILTER=${CANARY_DEMO_FILTER:-$TARGET_DIR/wasm/canary_filter.wasm}
exec "$TARGET_DIR"/debug/canary-ctl demo "$@"

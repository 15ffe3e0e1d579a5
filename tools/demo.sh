#!/usr/bin/env bash
# Builds and gets what the demo needs, then runs it; arguments go to `demo`.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tools/wasm.sh
CANARY_DEMO_ENVOY=${CANARY_DEMO_ENVOY:-$(tools/envoy.sh 1.40)}
say "building canary-ctl, the demo shop and the demo"
cargo build --quiet --locked -p canary-ctl -p demo-shop -p demo
export CANARY_DEMO_ENVOY
export CANARY_DEMO_FILTER=${CANARY_DEMO_FILTER:-$TARGET_DIR/wasm/canary_filter.wasm}
exec "$TARGET_DIR"/debug/demo "$@"

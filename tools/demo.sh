#!/usr/bin/env bash
# Builds and gets what the demo needs, then runs it; arguments go to `demo`.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

say "1 of 3: the filter (two minutes the first time)"
tools/wasm.sh
say "2 of 3: Envoy (110 MB the first time)"
CANARY_DEMO_ENVOY=${CANARY_DEMO_ENVOY:-$(tools/envoy.sh 1.40)}
say "3 of 3: canary-ctl, the demo shop and the demo (four minutes the first time on two cores)"
# Not quietly: a newcomer sees what cargo compiles, and that it waits for another run.
cargo build --locked -p canary-ctl -p demo-shop -p demo
export CANARY_DEMO_ENVOY
export CANARY_DEMO_FILTER=${CANARY_DEMO_FILTER:-$TARGET_DIR/wasm/canary_filter.wasm}
exec "$TARGET_DIR"/debug/demo "$@"

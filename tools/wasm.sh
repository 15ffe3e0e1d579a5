#!/usr/bin/env bash
# Builds the filter to target/wasm/canary_filter.wasm: compile, keep only the exports of filter/exports.txt, optimise.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
lock wasm

readonly BUILT=$TARGET_DIR/wasm-build/wasm32-unknown-unknown/wasm/canary_wasm.wasm
readonly MODULE=$TARGET_DIR/wasm/canary_filter.wasm
readonly EMBEDDED=$TARGET_DIR/wasm/embedded.wasm
readonly EXPORTS=filter/exports.txt

tools/cargo-wasm.sh -p canary-wasm

# Sums, not times: cargo may put back an older module when a change is undone.
sums=$(cat "$BUILT" "$EXPORTS" tools/wasm-shrink.sh | cksum)
if [ ! -e "$MODULE" ] || [ "$(cat "$MODULE.sum" 2>/dev/null)" != "$sums" ]; then
    tools/wasm-shrink.sh "$BUILT" "$EXPORTS" "$MODULE"
    echo "$sums" >"$MODULE.sum"
fi
# What canary-ctl embeds (ctl/build.rs). A copy, which is there and empty before the first module: cargo looks at its time.
cmp -s "$MODULE" "$EMBEDDED" || { cp "$MODULE" "$EMBEDDED.new" && mv "$EMBEDDED.new" "$EMBEDDED"; }

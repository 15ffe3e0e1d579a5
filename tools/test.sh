#!/usr/bin/env bash
# Runs every test after getting and building what they need. With CI=true a test that cannot run fails, none is skipped.
# Usage: tools/test.sh [FLAG…]
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

for flag in "$@"; do
    say "flag $flag: nothing to do for it here"
done

stage "check" tools/check.sh
stage "filter" tools/wasm.sh
stage "Envoys" tools/envoy.sh
stage "programs" cargo build ${CI:+--locked} -p canary-ctl -p demo-shop
stage "tests" cargo test --workspace --no-fail-fast ${CI:+--locked}
stage "demo" "$TARGET_DIR"/debug/canary-ctl demo --once
say "everything passed in $SECONDS s"

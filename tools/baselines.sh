#!/usr/bin/env bash
# Builds the benchmark's yardstick, an empty SDK filter, to target/wasm/empty_sdk.wasm: as cargo leaves it, nothing
# stripped or optimised after linking, because that is what a user of the SDK would run.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
lock wasm

tools/cargo-wasm.sh --manifest-path wasm-tests/studies/baselines/empty-sdk/Cargo.toml
out=$TARGET_DIR/wasm/empty_sdk.wasm
mkdir -p "$(dirname "$out")"
cp "$TARGET_DIR/wasm-build/wasm32-unknown-unknown/wasm/empty_sdk.wasm" "$out.new"
mv "$out.new" "$out"

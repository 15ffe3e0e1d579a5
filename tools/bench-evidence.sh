#!/usr/bin/env bash
# Builds the simulation of rollouts and runs it: docs/evidence.md and docs/evidence.svg.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

say "building the simulation"
# Optimised: it draws hundreds of millions of requests.
cargo build --quiet --locked --manifest-path wasm-tests/studies/Cargo.toml --target-dir "$TARGET_DIR" --release -p evidence-bench
exec "$TARGET_DIR"/release/evidence-bench "$@"

#!/usr/bin/env bash
# Builds the planner of `canary-ctl twin` as it is shipped and prints what charts cost it, as the table of docs/helm.md.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

say "building the planner"
cargo build --quiet --locked --profile dist -p helm-twins --example cost
exec "$TARGET_DIR"/dist/examples/cost

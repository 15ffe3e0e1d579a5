#!/usr/bin/env bash
# Changes the code one expression at a time and runs the unit tests on each change; what no test notices is listed.
# Hours on two cores. Arguments go to cargo-mutants: `./x mutants --shard 0/20`, `./x mutants -f ctl/release/src/status`.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly MUTANTS=27.1.0
if [ "$("$TOOLS_DIR/bin/cargo-mutants" --version 2>/dev/null)" != "cargo-mutants $MUTANTS" ]; then
    say "installing cargo-mutants $MUTANTS into $TOOLS_DIR"
    cargo install --quiet --locked --root "$TOOLS_DIR" "cargo-mutants@$MUTANTS"
fi
# What may survive, and why, is in .cargo/mutants.toml.
exec "$TOOLS_DIR/bin/cargo-mutants" mutants --output "$TARGET_DIR" "$@"

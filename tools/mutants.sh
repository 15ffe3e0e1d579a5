#!/usr/bin/env bash
# Changes the code one expression at a time and runs the unit tests on each change; what no test notices is listed.
# 3,814 changes of about 25 s each on two cores. Arguments go to cargo-mutants: `./x mutants --shard 0/200`, `./x mutants -F status/problems.rs`
# (`-F` is a regular expression over their names; `-f` is not obeyed, because .cargo/mutants.toml says which files are examined).
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly MUTANTS=27.1.0
if [ "$("$TOOLS_DIR/bin/cargo-mutants" --version 2>/dev/null)" != "cargo-mutants $MUTANTS" ]; then
    say "installing cargo-mutants $MUTANTS into $TOOLS_DIR"
    cargo install --quiet --locked --root "$TOOLS_DIR" "cargo-mutants@$MUTANTS"
fi
# What may survive, and why, is in .cargo/mutants.toml.
exec "$TOOLS_DIR/bin/cargo-mutants" mutants --cargo-arg=--locked --output "$TARGET_DIR" "$@"

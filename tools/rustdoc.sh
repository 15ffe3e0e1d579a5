#!/usr/bin/env bash
# `rustdoc` for `cargo test --doc`: runs the examples of a library, then writes its documentation, in which a warning is an error.
# `cargo doc` would compile every dependency once more for that.
set -euo pipefail
rustdoc "$@"
[[ " $* " == *" --test "* ]] || exit 0 # cargo asks for the version too
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --test) ;;
    --test-args | --test-run-directory) shift ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
exec rustdoc -D warnings --out-dir "${CARGO_TARGET_DIR:-target}/doc" "${arguments[@]}"

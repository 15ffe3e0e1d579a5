#!/usr/bin/env bash
# Everything that can be said about the code without running it: format, lints, documentation; a warning is an error.
# Usage: tools/check.sh [--uncompiled]
#     --uncompiled  without lints and documentation, which `./x test` has from the compilation of the tests
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

{ cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1 || die "cargo fmt or cargo clippy is missing" \
    "rustup component add rustfmt clippy; Debian: apt-get install rustfmt-web rust-web-clippy"
stage "format" cargo fmt --all --check
stage "format of the studies" cargo fmt --all --check --manifest-path wasm-tests/studies/Cargo.toml
stage "lock file of the studies" cargo update --quiet --workspace --locked --manifest-path wasm-tests/studies/Cargo.toml
stage "dependencies" tools/deny.sh
[ "${1:-}" != --uncompiled ] || exit 0
stage "lints" cargo clippy --workspace --all-targets --locked -- -D warnings
stage "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

#!/usr/bin/env bash
# Writes the licences of all that is in the binary, with the texts that its crates carry; a licence that tools/about.toml does not accept is
# an error.
# Usage: tools/dist-licenses.sh FILE
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly VERSION=0.9.3 ROOT=$TOOLS_DIR/cargo-about
# Embark's cargo-about: it finds the texts in the crates, and falls back to SPDX's where a crate has none (kube).
[ -x "$ROOT/bin/cargo-about" ] || {
    say "building cargo-about $VERSION into $ROOT (minutes, once)"
    cargo install --quiet --locked --features cli --root "$ROOT" "cargo-about@$VERSION"
}
"$ROOT/bin/cargo-about" generate --locked --fail --manifest-path ctl/Cargo.toml --config tools/about.toml -o "$1" tools/about.hbs

#!/usr/bin/env bash
# Writes the licences of all that is in the binary, with the texts that its crates carry; a licence that tools/about.toml does not accept is
# an error.
# Usage: tools/dist-licenses.sh [--names] FILE     (--names: the names of the licences alone, at once; the program that finds the texts takes five
#                                                   minutes to build)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [ "$1" = --names ]; then
    cargo tree --locked -p canary-ctl -e normal,no-proc-macro --prefix none --format '  {p}: {l}' --target "$(uname -m)-unknown-linux-musl" |
        sed 's/ v\([0-9]\)/ \1/; s| (/[^)]*)||; s| (\*)$||' | LC_ALL=C sort -u >"$2"
    exit
fi
readonly VERSION=0.9.3 ROOT=$TOOLS_DIR/cargo-about
# Embark's cargo-about: it finds the texts in the crates, and falls back to SPDX's where a crate has none (kube).
[ -x "$ROOT/bin/cargo-about" ] || {
    say "building cargo-about $VERSION into $ROOT (minutes, once)"
    cargo install --quiet --locked --features cli --root "$ROOT" "cargo-about@$VERSION"
}
"$ROOT/bin/cargo-about" generate --locked --fail --manifest-path ctl/Cargo.toml --config tools/about.toml -o "$1" tools/about.hbs

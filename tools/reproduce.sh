#!/usr/bin/env bash
# Builds what is published of the current commit twice, in folders of different length and with registries that are unpacked anew, and
# compares the filter's modules and every file of dist/. Many minutes, so it is no part of `./x test`, which packs one binary twice.
# Usage: tools/reproduce.sh [FLAGS]     (those of tools/dist.sh but --quick)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly CARGO=${CARGO_HOME:-$HOME/.cargo}

# build NAME FLAGS: prints the folder of the checkout
build() {
    local folder=$work/$1/checkout home=$work/$1/cargo part
    shift
    mkdir -p "$folder" "$home/registry" "$TOOLS_DIR"
    git clone --quiet --no-hardlinks . "$folder"
    # Tools of the build are no part of what is built.
    ln -s "$PWD/$TOOLS_DIR" "$folder/$TOOLS_DIR"
    # What was downloaded is shared, and what was unpacked is not: a new machine has none of it.
    for part in registry/cache registry/index bin config.toml; do
        [ ! -e "$CARGO/$part" ] || ln -s "$(realpath "$CARGO/$part")" "$home/$part"
    done
    (cd "$folder" && env -u CARGO_TARGET_DIR -u DIST CARGO_HOME="$home" tools/dist.sh "$@" >&2)
    printf '%s\n' "$folder"
}

first=$(build a "$@")
second=$(build a-folder-with-a-longer-name "$@")
say "$(rustc --version), $(wasm-opt --version)"
differs=no
for path in target/wasm/canary_filter.wasm $(cd "$first" && echo dist/*); do
    sha256sum "$first/$path" | sed "s|$first/||"
    cmp "$first/$path" "$second/$path" || differs=yes
done
[ "$differs" = no ] || die "two builds of one commit differ" "strings -n 6 of both shows a path that is not remapped"

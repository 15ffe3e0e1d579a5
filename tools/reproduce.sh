#!/usr/bin/env bash
# Builds the filter of the current commit twice, in folders of different length and with registries that are unpacked anew, and
# compares the modules. Minutes, so it is no part of `./x test`.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly CARGO=${CARGO_HOME:-$HOME/.cargo}

# build NAME: prints the path of the module
build() {
    local folder=$work/$1/checkout home=$work/$1/cargo
    mkdir -p "$folder" "$home/registry"
    git archive HEAD | tar -x -C "$folder"
    # What was downloaded is shared, and what was unpacked is not: a new machine has none of it.
    for part in registry/cache registry/index bin config.toml; do
        [ ! -e "$CARGO/$part" ] || ln -s "$(realpath "$CARGO/$part")" "$home/$part"
    done
    (cd "$folder" && env -u CARGO_TARGET_DIR CARGO_HOME="$home" tools/wasm.sh >&2)
    printf '%s\n' "$folder/target/wasm/canary_filter.wasm"
}

first=$(build a)
second=$(build a-folder-with-a-longer-name)
say "$(rustc --version), $(wasm-opt --version)"
for module in "$first" "$second"; do printf '%s  %s bytes\n' "$(sha256sum <"$module" | cut -d' ' -f1)" "$(wc -c <"$module")"; done
cmp "$first" "$second" || die "two builds of one commit differ" "strings -n 6 of both shows a path that is not remapped"

#!/usr/bin/env bash
# Builds what is published of canary-ctl into dist/: for each processor an archive with a static binary, completions and manual pages;
# a manifest for krew, and SHA256SUMS. The same commit and compilers give the same archives. It then tries what it has made, as users do.
# Usage: tools/dist.sh [--url BASE]     (where the archives will be; the manifest for krew names it)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly OUT=dist
readonly PLACEHOLDER=https://example.invalid/canary # nothing is published yet: whoever publishes a fork gives its address
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
readonly VERSION SOURCE_DATE_EPOCH

url=$PLACEHOLDER
case ${1:-} in
"") ;;
--url) url=${2:?expected an address after --url} ;;
*) die "unknown flag '$1'" "known: --url BASE" ;;
esac

# The C parts of `ring` need a compiler for musl. musl-gcc compiles for the processor that it runs on.
find_musl_compiler() { have musl-gcc || apt_install musl-tools; }

std_is_here() { compgen -G "$(rustc --print target-libdir --target "$1")/libcore-*.rlib" >/dev/null; }

# build TARGET: prints the path of the binary
build() {
    local target=$1 variable
    std_is_here "$target" || rustup target add "$target" >&2 || return 1
    variable=$(printf '%s' "$target" | tr a-z- A-Z_)
    # The paths of this machine would be part of the binary: in the texts of panics.
    env "CC_${target//-/_}=musl-gcc" \
        "CARGO_TARGET_${variable}_RUSTFLAGS=--remap-path-prefix=$PWD/= --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/=cargo/" \
        CANARY_FILTER_WASM="$(realpath "$TARGET_DIR/wasm/canary_filter.wasm")" \
        cargo build --locked -p canary-ctl --profile dist --target "$target" --target-dir "$TARGET_DIR/dist-build" >&2
    printf '%s\n' "$TARGET_DIR/dist-build/$target/dist/canary-ctl"
}

# fill FOLDER BINARY: the files of an archive
fill() {
    local folder=$1 tool=$1/canary-ctl page words
    mkdir -p "$folder/completions" "$folder/man/man1"
    install -m 755 "$2" "$tool"
    "$tool" completions bash >"$folder/completions/canary-ctl.bash"
    "$tool" completions zsh >"$folder/completions/_canary-ctl"
    "$tool" completions fish >"$folder/completions/canary-ctl.fish"
    while read -r -a words; do
        page=$(IFS=- && echo "${words[*]}")
        "$tool" man "${words[@]:1}" >"$folder/man/man1/$page.1"
    done < <("$tool" man --list)
    cp LICENSE README.md CHANGELOG.md SECURITY.md "$folder"
    chmod -R u=rwX,go=rX "$folder"
}

# archive FOLDER: its name and .tar.gz, with nothing of this machine or of the time in it
archive() {
    tar -C "$OUT" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$1" |
        gzip -9 -n >"$OUT/$1.tar.gz"
}

case $(uname -m) in
x86_64) target=x86_64-unknown-linux-musl arch=amd64 ;;
aarch64) target=aarch64-unknown-linux-musl arch=arm64 ;;
*) die "expected a processor of x86-64 or arm64, found $(uname -m)" ;;
esac
find_musl_compiler || die "musl-gcc is missing" "Debian: apt-get install musl-tools"
[ -n "$(git status --porcelain)" ] && say "files differ from the commit, and the archives will be other than those of the commit"
stage "filter" tools/wasm.sh
binary=$(stage "canary-ctl for $target" build "$target") || die "no standard library for $target" "rustup target add $target"
rm -rf "$OUT"
name=canary-ctl-$VERSION-linux-$arch
fill "$OUT/$name" "$binary"
archive "$name"
rm -rf "${OUT:?}/$name"
tools/dist-index.sh "$url"
stage "checks" tools/dist-check.sh "$name"
say "built for $arch alone: run ./x dist on the other processor for its archive"
ls -l "$OUT" >&2

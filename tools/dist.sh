#!/usr/bin/env bash
# Builds what is published of canary-ctl into dist/, for x86-64 and arm64: an archive with a static binary, completions and manual pages,
# and a container image; for both a bill of materials, a manifest for krew, and SHA256SUMS. The same commit and compilers give the same
# files. It then tries what it has made, as users do.
# Usage: tools/dist.sh [--url BASE] [--arch amd64|arm64]
#     --url   where the files will be; the manifest for krew names it
#     --arch  for this processor alone
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly OUT=dist
readonly PLACEHOLDER=https://example.invalid/canary # nothing is published yet: whoever publishes a fork gives its address
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
readonly VERSION

url=$PLACEHOLDER
architectures=(amd64 arm64)
while [ $# -gt 0 ]; do
    case $1 in
    --url) url=${2:?expected an address after --url} ;;
    --arch) architectures=("${2:?expected amd64 or arm64 after --arch}") ;;
    *) die "unknown flag '$1'" "known: --url BASE, --arch amd64|arm64" ;;
    esac
    shift 2
done

# cpu ARCHITECTURE: the processor's name in targets and compilers
cpu() {
    case $1 in
    amd64) echo x86_64 ;;
    arm64) echo aarch64 ;;
    *) die "expected amd64 or arm64, found $1" ;;
    esac
}

std_is_here() { compgen -G "$(rustc --print target-libdir --target "$1")/libcore-*.rlib" >/dev/null; }

# compiler CPU ARCHITECTURE: a C compiler whose code runs with musl, for `ring`. musl-gcc compiles for this processor alone.
compiler() {
    if [ "$1" = "$(uname -m)" ]; then
        have musl-gcc || apt_install musl-tools || die "musl-gcc is missing" "Debian: apt-get install musl-tools"
        echo musl-gcc
    else
        have "$1-linux-gnu-gcc" || apt_install "gcc-${1//_/-}-linux-gnu" "libc6-dev-$2-cross" ||
            die "$1-linux-gnu-gcc is missing" "Debian: apt-get install gcc-${1//_/-}-linux-gnu"
        echo "$1-linux-gnu-gcc"
    fi
}

# build ARCHITECTURE: prints the path of the binary
build() {
    local cc target variable
    target=$(cpu "$1")-unknown-linux-musl
    cc=$(compiler "$(cpu "$1")" "$1")
    std_is_here "$target" || rustup target add "$target" >&2 || die "no standard library for $target" "rustup target add $target"
    variable=$(printf '%s' "$target" | tr a-z- A-Z_)
    # Rust's own start-up files are linked, by the plain linker of that processor: those of musl-gcc know no static-pie, and the program
    # would crash at its start.
    [ "$cc" = musl-gcc ] || export "CARGO_TARGET_${variable}_LINKER=$cc"
    # The paths of this machine would be part of the binary: in the texts of panics.
    env "CC_${target//-/_}=$cc" \
        "CARGO_TARGET_${variable}_RUSTFLAGS=--remap-path-prefix=$PWD/= --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/=cargo/" \
        CANARY_FILTER_WASM="$(realpath "$TARGET_DIR/wasm/canary_filter.wasm")" \
        cargo build --locked -p canary-ctl --profile dist --target "$target" --target-dir "$TARGET_DIR/dist-build" >&2
    printf '%s\n' "$TARGET_DIR/dist-build/$target/dist/canary-ctl"
}

[ -z "$(git status --porcelain)" ] || say "files differ from the commit, and what is built will be other than that of the commit"
stage "filter" tools/wasm.sh
rm -rf "$OUT"
mkdir "$OUT"
stage "licences" tools/dist-licenses.sh "$OUT/THIRD-PARTY-LICENSES.txt"
stage "bill of materials" tools/dist-sbom.sh "$OUT/canary-ctl-$VERSION.cdx.json"
for architecture in "${architectures[@]}"; do
    binary=$(stage "canary-ctl for $architecture" build "$architecture")
    tools/dist-archive.sh "$architecture" "$binary"
    tools/dist-image.sh "$architecture" "$binary"
done
tools/dist-index.sh "$url"
for architecture in "${architectures[@]}"; do stage "checks for $architecture" tools/dist-check.sh "$architecture"; done
ls -l "$OUT" >&2

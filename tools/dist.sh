#!/usr/bin/env bash
# Builds what is published of canary-ctl into dist/, for x86-64 and arm64: an archive with a static binary, completions and manual pages,
# and a container image; for both a bill of materials, a manifest for krew, and SHA256SUMS. The same commit and compilers give the same
# files. It then tries what it has made, as users do.
# Usage: tools/dist.sh [--url BASE] [--arch amd64|arm64] [--quick]
#     --url    where the files will be; the manifest for krew names it
#     --arch   for this processor alone
#     --quick  what `./x test` tries, into target/dist-quick: the same scripts with the binary of the tests (target/debug) and the libraries that
#              it is linked with, names of licences without their texts, and no bill of materials
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly PLACEHOLDER=https://example.invalid/canary # nothing is published yet: whoever publishes a fork gives its address
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
readonly VERSION

url=$PLACEHOLDER
architectures=(amd64 arm64)
quick=no
while [ $# -gt 0 ]; do
    case $1 in
    --url) url=${2:?expected an address after --url} ;;
    --arch) architectures=("${2:?expected amd64 or arm64 after --arch}") ;;
    --quick)
        quick=yes
        DIST=$TARGET_DIR/dist-quick
        case $(uname -m) in aarch64) architectures=(arm64) ;; *) architectures=(amd64) ;; esac
        shift
        continue
        ;;
    *) die "unknown flag '$1'" "known: --url BASE, --arch amd64|arm64, --quick" ;;
    esac
    shift 2
done
export DIST

# cpu ARCHITECTURE: the processor's name in targets and compilers
cpu() {
    case $1 in
    amd64) echo x86_64 ;;
    arm64) echo aarch64 ;;
    *) die "expected amd64 or arm64, found $1" ;;
    esac
}

std_is_here() { compgen -G "$(rustc --print target-libdir --target "$1")/libcore-*.rlib" >/dev/null; }

# musl TARGET: whether its standard library is here, or comes
musl() { std_is_here "$1" || timeout 120 rustup target add "$1" >&2; }

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
    # The paths of this machine would be part of the binary: in the texts of panics.
    local flags="--remap-path-prefix=$PWD/= --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/=cargo/"
    target=$(cpu "$1")-unknown-linux-musl
    musl "$target" || die "no standard library for $target" "rustup target add $target"
    cc=$(compiler "$(cpu "$1")" "$1")
    variable=$(printf '%s' "$target" | tr a-z- A-Z_)
    # Rust's own start-up files are linked, by the plain linker of that processor: those of musl-gcc know no static-pie, and the program
    # would crash at its start.
    [ "$cc" = musl-gcc ] || export "CARGO_TARGET_${variable}_LINKER=$cc"
    env "CC_${target//-/_}=$cc" "CARGO_TARGET_${variable}_RUSTFLAGS=$flags" \
        CANARY_FILTER_WASM="$(realpath "$TARGET_DIR/wasm/canary_filter.wasm")" \
        cargo build --locked -p canary-ctl --profile dist --target "$target" --target-dir "$TARGET_DIR/dist-build" >&2
    printf '%s\n' "$TARGET_DIR/dist-build/$target/dist/canary-ctl"
}

# built_for_tests: prints the path of the binary that the tests run, without its debug information
built_for_tests() {
    [ -x "$TARGET_DIR/debug/canary-ctl" ] || die "no canary-ctl in $TARGET_DIR/debug" "cargo test --workspace --no-run --locked"
    strip -o "$DIST/canary-ctl" "$TARGET_DIR/debug/canary-ctl"
    printf '%s\n' "$DIST/canary-ctl"
}

# pack ARCHITECTURE BINARY: the files with this binary, into $DIST
pack() {
    tools/dist-archive.sh "$@"
    tools/dist-image.sh "$@"
}

# pack_again ARCHITECTURE BINARY: what is packed at another time, by a user with another umask, has the same bytes
pack_again() (
    first=$DIST
    DIST=$(mktemp -d)
    trap 'rm -rf "$DIST"' EXIT
    cp "$first/THIRD-PARTY-LICENSES.txt" "$DIST"
    umask 077
    export TZ=Asia/Tokyo
    pack "$@"
    for file in "$DIST"/canary-ctl-*; do
        cmp "$file" "$first/$(basename "$file")" || die "${file##*/} has other bytes when it is packed again" \
            "names, order, times, owners and modes in it have to come from the commit"
    done
)

[ -z "$(git status --porcelain)" ] || say "files differ from the commit, and what is built will be other than that of the commit"
stage "filter" tools/wasm.sh
rm -rf "$DIST"
mkdir -p "$DIST"
if [ "$quick" = yes ]; then
    tools/dist-licenses.sh --names "$DIST/THIRD-PARTY-LICENSES.txt"
else
    stage "licences" tools/dist-licenses.sh "$DIST/THIRD-PARTY-LICENSES.txt"
    stage "bill of materials" tools/dist-sbom.sh "$DIST/canary-ctl-$VERSION.cdx.json"
fi
for architecture in "${architectures[@]}"; do
    if [ "$quick" = yes ]; then binary=$(built_for_tests); else binary=$(stage "canary-ctl for $architecture" build "$architecture"); fi
    stage "packing for $architecture" pack "$architecture" "$binary"
    stage "packing for $architecture again" pack_again "$architecture" "$binary"
done
[ "$quick" = no ] || rm "$binary"
tools/dist-index.sh "$url"
krew=(--krew)
[ "$quick" = no ] || krew=()
for architecture in "${architectures[@]}"; do stage "checks for $architecture" tools/dist-check.sh "$architecture" "${krew[@]}"; done
[ "$quick" = yes ] || stage "cargo install" tools/dist-install.sh
ls -l "$DIST" >&2

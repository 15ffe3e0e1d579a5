#!/usr/bin/env bash
# `cargo build` for wasm32-unknown-unknown with whichever compiler this machine has or can get; arguments go to cargo.
# First choice: the usual compiler with rustup's ready-made standard library. Second: Debian's compiler and its sources.
# Usage: tools/cargo-wasm.sh -p canary-wasm
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly TARGET=wasm32-unknown-unknown
readonly REFUSED=$TOOLS_DIR/rustup-has-no-wasm # a machine without access to rustup's server waits for it once, not every time
readonly BUILD=(build --locked --target "$TARGET" --profile wasm --target-dir "$TARGET_DIR/wasm-build")

readonly SOURCES=${CARGO_HOME:-$HOME/.cargo}/registry/src

# Cargo makes the folder of a registry's sources with the first crate that it unpacks. What is built before that would contain
# the whole path: 120 bytes more, on a new machine only.
compgen -G "$SOURCES/*/" >/dev/null || cargo fetch --quiet --locked --target "$TARGET"

# Shorter, and the same on every machine: where the sources lay is part of what a panic would say. And SHA-256 as a loop
# (a choice of `sha2`): in a proxy its code is cold each time, and unrolled it is 7 kB of module and 200 more lines of cache.
wasm_flags() {
    local registry
    printf '%s ' '--cfg=sha2_backend_soft="compact"'
    for registry in "$SOURCES"/*/; do printf '%s ' "--remap-path-prefix=$registry="; done
    printf '%s' "--remap-path-prefix=/usr/lib/rustlib/src/rust/library/=std/ --remap-path-prefix=$PWD/="
}
CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=$(wasm_flags)
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS

std_is_here() {
    local libs
    libs=$(rustc --print target-libdir --target "$TARGET" 2>/dev/null) && compgen -G "$libs/libcore-*.rlib" >/dev/null
}

std_by_rustup() {
    have rustup && [ ! -e "$REFUSED" ] || return 1
    say "rustup target add $TARGET"
    timeout 60 rustup target add "$TARGET" >&2 && return 0
    mkdir -p "$TOOLS_DIR"
    echo "rustup target add failed; delete this file to try it again" >"$REFUSED"
    say "rustup cannot add $TARGET here (remembered in $REFUSED)"
    return 1
}

debian_is_here() {
    [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && have wasm-ld-19 &&
        [ -e "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/std/Cargo.toml" ]
}

# Debian has no ready-made standard library for this target, so it is built along, which takes a minute the first time.
# compiler_builtins (memcmp and the like) for speed, as rustup's is: for size it compares byte by byte.
build_with_debian() {
    RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 exec /usr/bin/cargo "${BUILD[@]}" -Zbuild-std=std,panic_abort \
        --config 'profile.wasm.package.compiler_builtins.opt-level=3' \
        --config "target.$TARGET.linker=\"wasm-ld-19\"" "$@"
}

if std_is_here || std_by_rustup; then
    exec cargo "${BUILD[@]}" "$@"
elif debian_is_here || apt_install rustc-web cargo-web rust-web-src lld-19; then
    say "building for $TARGET with Debian's $(/usr/bin/rustc --version | cut -d' ' -f1,2)"
    build_with_debian "$@"
else
    die "no compiler for $TARGET: rustup cannot add the target and Debian's packages cannot be installed" \
        "run 'rustup target add $TARGET', or as root 'apt-get install rustc-web cargo-web rust-web-src lld-19'"
fi

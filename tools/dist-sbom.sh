#!/usr/bin/env bash
# Writes what the binary is made of, as CycloneDX: each crate with its version, checksum and licence.
# Usage: tools/dist-sbom.sh FILE     (SOURCE_DATE_EPOCH is the time in it)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly VERSION=0.5.9 ROOT=$TOOLS_DIR/cargo-cyclonedx NAME=sbom.cdx
# CycloneDX' own tool for cargo.
[ -x "$ROOT/bin/cargo-cyclonedx" ] || {
    say "building cargo-cyclonedx $VERSION into $ROOT (minutes, once)"
    cargo install --quiet --locked --root "$ROOT" "cargo-cyclonedx@$VERSION"
}
# It writes one file beside each Cargo.toml of the workspace.
trap 'git ls-files "*Cargo.toml" | sed "s|Cargo.toml$|$NAME.json|" | xargs rm -f' EXIT
"$ROOT/bin/cargo-cyclonedx" cyclonedx --quiet --format json --spec-version 1.5 --no-build-deps \
    --target x86_64-unknown-linux-musl --override-filename "$NAME" --manifest-path ctl/Cargo.toml
# Names of our own crates begin with the folder of the checkout, which is none of the bill's business.
sed "s|path+file://$PWD/|path+file:///|g" "ctl/$NAME.json" >"$1"
! grep -qF "$PWD" "$1" || die "the bill of materials names a folder of this machine" "$(grep -oF -m 1 "$PWD" "$1")"

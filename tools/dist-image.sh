#!/usr/bin/env bash
# Writes canary-ctl-VERSION-linux-ARCHITECTURE.oci.tar into dist/ ($DIST): a container image of the tool as an OCI archive, made without Docker. In it are
# the static binary and Mozilla's root certificates, and no shell; it runs as user 65532.
# Usage: tools/dist-image.sh ARCHITECTURE BINARY     (SOURCE_DATE_EPOCH is the time of the files)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly ARCHITECTURE=$1 BINARY=$2
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
TIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
readonly VERSION TIME
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly LAYOUT=$work/layout ROOT=$work/root

have umoci || apt_install umoci || die "umoci is missing; it makes the image" "Debian and Ubuntu: apt-get install umoci"

# certificates FILE: Mozilla's root certificates as Debian packs them, whether this machine has them installed or not
certificates() {
    local download=(apt-get download -qq -o APT::Sandbox::User=root ca-certificates) # root's folder is closed to apt's own user
    (cd "$work" && { "${download[@]}" >&2 || { apt_update && "${download[@]}" >&2; }; }) ||
        die "the package ca-certificates could not be downloaded" "apt-get update"
    dpkg -x "$work"/ca-certificates_*.deb "$work/ca-certificates"
    find "$work/ca-certificates/usr/share/ca-certificates/mozilla" -name '*.crt' | LC_ALL=C sort | xargs cat >"$1"
}

mkdir -p "$ROOT/etc/ssl/certs"
install_in "$ROOT" "$BINARY"
certificates "$ROOT/etc/ssl/certs/ca-certificates.crt"
echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$ROOT/etc/passwd"
find "$ROOT" -type d -exec chmod 755 {} + && find "$ROOT/etc" -type f -exec chmod 644 {} +
find "$ROOT" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

image() { umoci "$1" --image "$LAYOUT:$VERSION" "${@:2}"; }
umoci init --layout "$LAYOUT"
image new
image insert --history.created "$TIME" --history.created_by "canary-ctl and root certificates" "$ROOT" /
image config --no-history --created "$TIME" --os linux --architecture "$ARCHITECTURE" \
    --config.user 65532:65532 --config.entrypoint /canary-ctl --config.workingdir / \
    --config.label org.opencontainers.image.title=canary-ctl --config.label "org.opencontainers.image.version=$VERSION" \
    --config.label org.opencontainers.image.licenses=Apache-2.0 \
    --config.label "org.opencontainers.image.revision=$(git rev-parse HEAD)"
umoci gc --layout "$LAYOUT"
tar -C "$LAYOUT" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar \
    -cf "$DIST/canary-ctl-$VERSION-linux-$ARCHITECTURE.oci.tar" .

#!/usr/bin/env bash
# Unpacks Debian's nginx into .tools/nginx, without installing it as a service, and prints the path of the binary.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly DIR=$TOOLS_DIR/nginx

download() { (cd "$DIR" && apt-get download -qq nginx >&2); }

unpack_nginx() {
    lock nginx
    [ ! -x "$DIR/nginx" ] || return 0 # another process did it during the wait for the lock
    have apt-get && have dpkg || die "nginx is unpacked from Debian's package; apt-get and dpkg are missing" \
        "link any nginx 1.18 or later to $DIR/nginx"
    say "unpacking Debian's nginx into $DIR"
    mkdir -p "$DIR"
    # The package lists may be missing or old: then the package is not found.
    download || { apt_update && download; } || die "the package nginx could not be downloaded" "apt-get update"
    dpkg -x "$DIR"/nginx_*.deb "$DIR"
    "$DIR/usr/sbin/nginx" -v 2>/dev/null || die "nginx was unpacked but does not start"
    ln -sfn usr/sbin/nginx "$DIR/nginx" # last: it says that the rest is complete
}

[ -x "$DIR/nginx" ] || unpack_nginx
echo "$PWD/$DIR/nginx"

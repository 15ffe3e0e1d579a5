#!/usr/bin/env bash
# Installs Debian's headless Chromium, in which the dashboard is tested, links it to .tools/chromium/chromium, and prints that path.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly DIR=$TOOLS_DIR/chromium

find_chromium() { command -v chromium-headless-shell || command -v chromium; }

install_chromium() {
    lock chromium
    [ ! -x "$DIR/chromium" ] || return 0 # another process did it during the wait for the lock
    find_chromium >/dev/null || apt_install chromium-headless-shell || apt_install chromium ||
        die "Chromium is missing; the dashboard is tested in it" \
            "Debian: apt-get install chromium-headless-shell; elsewhere link a Chromium or Chrome to $DIR/chromium"
    mkdir -p "$DIR"
    ln -sfn "$(find_chromium)" "$DIR/chromium"
}

[ -x "$DIR/chromium" ] || install_chromium
echo "$PWD/$DIR/chromium"

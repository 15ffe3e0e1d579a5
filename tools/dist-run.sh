#!/usr/bin/env bash
# Prints the command that runs a static binary of a processor on this one: nothing, or QEMU's.
# Usage: tools/dist-run.sh amd64|arm64
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case $1-$(uname -m) in
amd64-x86_64 | arm64-aarch64) exit 0 ;;
amd64-*) program=qemu-x86_64-static ;;
arm64-*) program=qemu-aarch64-static ;;
*) die "expected amd64 or arm64, found $1" ;;
esac
have "$program" || apt_install qemu-user-static || die "$program is missing; it runs what is built for $1" \
    "Debian and Ubuntu: apt-get install qemu-user-static"
command -v "$program"

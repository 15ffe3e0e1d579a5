#!/usr/bin/env bash
# Unpacks Debian's nginx into .tools/nginx, without installing it as a service, and prints the path of the binary.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

unpack_debian nginx usr/sbin/nginx

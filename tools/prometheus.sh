#!/usr/bin/env bash
# Unpacks Debian's Prometheus and promtool into .tools/prometheus, without installing them as a service, and prints the path of the server.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

unpack_debian prometheus usr/bin/prometheus usr/bin/promtool

#!/usr/bin/env bash
# Unpacks Debian's registry of images into .tools/docker-registry, without installing it as a service, and prints the path of the binary.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

unpack_debian docker-registry usr/bin/docker-registry

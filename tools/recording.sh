#!/usr/bin/env bash
# Types commands into the tool, and writes what it prints as an animated picture: docs/pictures/terminal.svg.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

UPDATE_GOLDEN=1 cargo test --quiet --workspace --locked --test cli recording

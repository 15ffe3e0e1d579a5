#!/usr/bin/env bash
# Types the commands of docs/five-minutes.md, and writes what they print: into the page, and as an animated picture, docs/pictures/terminal.svg.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

UPDATE_GOLDEN=1 cargo test --quiet --workspace --locked --test roads first_release

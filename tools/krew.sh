#!/usr/bin/env bash
# Builds krew, kubectl's plugin manager, from the Go module proxy into .tools/lab, for ./x dist alone; the version is that of
# wasm-tests/lab/go/krew/go.mod. The first time takes less than a minute. Prints its path.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source tools/go.sh

lock lab
mkdir -p "$BIN"
build krew "" krew=sigs.k8s.io/krew/cmd/krew
rm -rf "$GO"
echo "$BIN/krew"

#!/usr/bin/env bash
# Builds Flagger from the Go module proxy into .tools/lab, for ./x bench-flagger alone; the version is that of wasm-tests/lab/go/flagger/go.mod.
# The first time takes about five minutes on two cores.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source tools/go.sh

# The kinds that it reads.
after_flagger() {
    install -m 644 "$(sources_of flagger github.com/fluxcd/flagger)/artifacts/flagger/crd.yaml" "$LAB/flagger-crd.yaml"
}

lock lab
mkdir -p "$BIN"
build flagger "" flagger=github.com/fluxcd/flagger/cmd/flagger
rm -rf "$GO"

#!/usr/bin/env bash
# Builds Flagger or its load tester from the Go module proxy into .tools/lab; the versions are those of wasm-tests/lab/go/*/go.mod.
# Usage: tools/flagger.sh flagger|loadtester
#   flagger      for ./x bench-flagger; the first time takes about five minutes on two cores
#   loadtester   for ./x test long
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source tools/go.sh

# The kinds that it reads.
after_flagger() {
    install -m 644 "$(sources_of flagger github.com/fluxcd/flagger)/artifacts/flagger/crd.yaml" "$LAB/flagger-crd.yaml"
}

case ${1:-} in
flagger | loadtester) ;;
*) die "expected one program, found '$*'" "flagger, loadtester" ;;
esac
lock lab
mkdir -p "$BIN"
build "$1" "" "$1=github.com/fluxcd/flagger/cmd/$1"
rm -rf "$GO"

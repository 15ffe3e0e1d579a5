#!/usr/bin/env bash
# Builds other tools for rollouts, and a reader of objects as GitOps tools read them, from the Go module proxy into .tools/lab; the
# versions are those of wasm-tests/lab/go/*/go.mod.
# Usage: tools/peers.sh flagger|loadtester|argo-rollouts|gitops…
# Each takes about five minutes on two cores the first time. ./x test long needs all, ./x bench-flagger the first.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source tools/go.sh

# The kinds that it reads.
after_flagger() {
    install -m 644 "$(sources_of flagger github.com/fluxcd/flagger)/artifacts/flagger/crd.yaml" "$LAB/flagger-crds.yaml"
}

after_argo-rollouts() {
    local sources
    sources=$(sources_of argo-rollouts github.com/argoproj/argo-rollouts)
    sed -s '1s/^/---\n/' "$sources"/manifests/crds/*-crd.yaml >"$LAB/argo-rollouts-crds.yaml"
}

lock lab
mkdir -p "$BIN"
for program in "$@"; do
    case $program in
    flagger | loadtester) build "$program" "" "$program=github.com/fluxcd/flagger/cmd/$program" ;;
    argo-rollouts) build "$program" "" "$program=github.com/argoproj/argo-rollouts/cmd/rollouts-controller" ;;
    gitops) build gitops "" gitops=. ;;
    *) die "expected a program, found '$program'" "flagger, loadtester, argo-rollouts, gitops" ;;
    esac
done
rm -rf "$GO"

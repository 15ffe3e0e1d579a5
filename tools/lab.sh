#!/usr/bin/env bash
# Builds a real Kubernetes, a real Istio and both Helms from the Go module proxy into .tools/lab, for wasm-tests/lab/src; what is
# there and up to date stays. The versions are those of wasm-tests/lab/go/*/go.mod. The first time takes 10 to
# 30 minutes on two cores, by how busy they are, and 8 GB of disk.
#
# Half of what these programs are made of is common to several of them. It is compiled once, because the modules select the same
# versions of what they share: `go get` in the others too, when one of them needs a newer version. Both Helms ask for 0.37 of
# Kubernetes' own libraries; their go.mod replaces it by 0.36. etcd's server does not compile with newer libraries than its own.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source tools/go.sh

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

# What istiod and the agent read besides their programs.
after_istio() {
    local sources
    sources=$(cd "$SOURCES/istio" && go_here list -m -f '{{.Dir}}' istio.io/istio)
    install -m 644 "$sources/tools/packaging/common/envoy_bootstrap.json" "$LAB"
    rm -rf "$LAB/charts"
    mkdir "$LAB/charts"
    cp -r "$sources"/manifests/charts/{base,istio-control/istio-discovery} "$LAB/charts"
    chmod -R u+w "$LAB/charts"
}

# The kinds of the Gateway API that this Istio was built for. A module's archive has all files of its repository.
gateway_api() {
    local crds=$LAB/gateway-api.yaml sources version
    version=$(sed -n 's|.*sigs.k8s.io/gateway-api \(v[^ ]*\).*|\1|p' "$SOURCES/istio/go.mod")
    [ "$(head -1 "$crds" 2>/dev/null)" != "# $version" ] || return 0
    need_go
    sources=$(sources_of istio sigs.k8s.io/gateway-api)
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
    pilot-agent=istio.io/istio/pilot/cmd/pilot-agent
gateway_api
build helm3 "" helm3=helm.sh/helm/v3/cmd/helm
build helm4 "" helm4=helm.sh/helm/v4/cmd/helm
rm -rf "$GO" # the programs are all that is used; what they were built from takes gigabytes

#!/usr/bin/env bash
# Writes what is said of all files in dist/ ($DIST): krew.yaml, the manifest by which krew installs `kubectl canary`, and SHA256SUMS.
# Usage: tools/dist-index.sh BASE     (the address of the repository that publishes them)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly URL=${1:?expected the address of the repository}
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
readonly VERSION
cd "$DIST"
shopt -s nullglob # a quick build has no bill of materials

# platform ARCHIVE
platform() {
    local name=${1%.tar.gz}
    cat <<EOF
  - selector:
      matchLabels:
        os: linux
        arch: ${name##*-}
    uri: $URL/releases/download/v$VERSION/$1
    sha256: $(sha256sum "$1" | cut -d' ' -f1)
    bin: canary-ctl
    files:
    - from: $name/canary-ctl
      to: .
    - from: $name/LICENSE
      to: .
    - from: $name/THIRD-PARTY-LICENSES.txt
      to: .
EOF
}

{
    cat <<EOF
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: canary
spec:
  version: v$VERSION
  homepage: $URL
  shortDescription: Canary releases that keep user sessions, on Istio
  description: |
    Moves users, not requests, to a new version of a stateful application on Istio: a session stays on the version that it began on.
  platforms:
EOF
    for archive in canary-ctl-*.tar.gz; do platform "$archive"; done
} >krew.yaml
sha256sum -- *.tar.gz *.oci.tar *.cdx.json krew.yaml THIRD-PARTY-LICENSES.txt >SHA256SUMS

#!/usr/bin/env bash
# Writes canary-ctl-VERSION-linux-ARCHITECTURE.tar.gz into dist/ ($DIST): a binary with all that belongs to it.
# Usage: tools/dist-archive.sh ARCHITECTURE BINARY     (THIRD-PARTY-LICENSES.txt has to be there; SOURCE_DATE_EPOCH is the time of the files)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly ARCHITECTURE=$1 BINARY=$2
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
readonly NAME=canary-ctl-$VERSION-linux-$ARCHITECTURE
TOOL=$(tools/dist-run.sh "$ARCHITECTURE") # how a binary of that processor is run here
readonly TOOL
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

tool() { $TOOL "$BINARY" "$@"; }

mkdir -p "$folder/$NAME/completions" "$folder/$NAME/man/man1"
readonly contents=$folder/$NAME
install -m 755 "$BINARY" "$contents/canary-ctl"
tool completions bash >"$contents/completions/canary-ctl.bash"
tool completions zsh >"$contents/completions/_canary-ctl"
tool completions fish >"$contents/completions/canary-ctl.fish"
# On the PATH beside kubectl-canary it completes `kubectl canary`.
printf '#!/bin/sh\nexec kubectl-canary __complete "$@"\n' >"$contents/completions/kubectl_complete-canary"
chmod 755 "$contents/completions/kubectl_complete-canary"
while read -r -a words; do
    page=$(IFS=- && echo "${words[*]}")
    tool man "${words[@]:1}" >"$contents/man/man1/$page.1"
done < <(tool man --list)
cp LICENSE README.md CHANGELOG.md SECURITY.md ARCHITECTURE.md CONTRIBUTING.md "$DIST/THIRD-PARTY-LICENSES.txt" "$contents"
# What README.md links to, with its folders; tools/dist-check.sh follows each link.
mapfile -t linked < <(git ls-files docs examples/*/canary.yaml examples/{monitoring,argo-cd} assignment/README.md ctl/README.md)
cp --parents "${linked[@]}" "$contents"
chmod -R u=rwX,go=rX "$contents"
# With nothing of this machine or of the time in it.
tar -C "$folder" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$NAME" |
    gzip -9 -n >"$DIST/$NAME.tar.gz"

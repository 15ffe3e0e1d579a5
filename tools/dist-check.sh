#!/usr/bin/env bash
# Tries an archive of dist/ as a user does: checksums, unpacking, version, completions, manual pages, `kubectl canary`, and the binary
# alone in an empty root file system, without root.
# Usage: tools/dist-check.sh NAME
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly NAME=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd dist && sha256sum --check --quiet --strict SHA256SUMS)
tar -C "$work" -xzf "dist/$NAME.tar.gz"
readonly FOLDER=$work/$NAME
readonly TOOL=$FOLDER/canary-ctl

# expect TEXT COMMAND…: the output has this text
expect() {
    local text=$1 output
    shift
    output=$("$@" 2>&1) || die "$* failed: $output"
    case $output in
    *"$text"*) ;;
    *) die "expected '$text' in the output of: $*" "found: $output" ;;
    esac
}

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
expect "canary-ctl $version" "$TOOL" --version

# A module is in it: `module save` would fail without.
expect "" "$TOOL" module save "$work/module"

# shellcheck disable=SC2016
expect "rollout rollback" bash -c '
    source "$0"
    COMP_WORDS=(canary-ctl rol) COMP_CWORD=1 COMP_LINE="canary-ctl rol" COMP_POINT=14
    _canary__ctl canary-ctl rol canary-ctl
    echo "${COMPREPLY[@]}"' "$FOLDER/completions/canary-ctl.bash"
for file in _canary-ctl canary-ctl.fish; do [ -s "$FOLDER/completions/$file" ] || die "$file is empty"; done

if have man; then
    expect "canary-ctl rollout start" env MANPAGER=cat man "$FOLDER/man/man1/canary-ctl-rollout-start.1"
else say "no \`man\` here: the manual pages were not rendered"; fi

mkdir "$work/bin"
ln -s "$TOOL" "$work/bin/kubectl-canary"
readonly KUBECTL=$PWD/$TOOLS_DIR/lab/bin/kubectl
if [ -x "$KUBECTL" ]; then
    expect "Usage: kubectl canary" env "PATH=$work/bin:$PATH" "$KUBECTL" canary --help
else
    say "no kubectl in $TOOLS_DIR/lab: the plugin is run by its name"
    expect "Usage: kubectl canary" "$work/bin/kubectl-canary" --help
fi

# An empty root file system: what is not in the binary is missing there. User 65532 has no rights.
mkdir "$work/root"
cp "$TOOL" "$work/root/"
chmod 755 "$work" "$work/root"
expect "canary-ctl $version" as_root chroot --userspec=65532:65532 "$work/root" /canary-ctl --version

#!/usr/bin/env bash
# Tries what dist/ ($DIST) has for a processor as a user does: checksums, unpacking, version, completions, manual pages, `kubectl canary`, the
# commands of docs/install.md as they stand there, and the binary alone in an empty root file system, without root; the image, unpacked, in the same way.
# Usage: tools/dist-check.sh ARCHITECTURE [--krew]     (--krew: installed by the real krew, which is built for it, too)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly ARCHITECTURE=$1
case ${2:-} in --krew) krew=yes ;; *) krew=no ;; esac
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
readonly NAME=canary-ctl-$VERSION-linux-$ARCHITECTURE
RUN=$(tools/dist-run.sh "$ARCHITECTURE")
readonly RUN
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # another user runs the binary below

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

# in_root FOLDER ARGUMENT…: /canary-ctl as user 65532 with FOLDER as root file system: what is not there is missing
in_root() {
    local root=$1 emulator=()
    shift
    [ -z "$RUN" ] || { install -m 755 "$RUN" "$root/emulator" && emulator=(/emulator); }
    as_root chroot --userspec=65532:65532 "$root" "${emulator[@]}" /canary-ctl "$@"
}

check_archive() {
    local tool=$work/$NAME/canary-ctl contents=$work/$NAME
    tar -C "$work" -xzf "$DIST/$NAME.tar.gz"
    expect "canary-ctl $VERSION" $RUN "$tool" --version
    # The module of this commit is in it.
    $RUN "$tool" module save "$work/module" >/dev/null
    cmp -s "$TARGET_DIR/wasm/canary_filter.wasm" "$work/module" ||
        die "expected the module of target/wasm in the tool, found another one"
    # shellcheck disable=SC2016
    expect "rollout rollback" bash -c '
        source "$0"
        COMP_WORDS=(canary-ctl rol) COMP_CWORD=1 COMP_LINE="canary-ctl rol" COMP_POINT=14
        _canary__ctl canary-ctl rol canary-ctl
        echo "${COMPREPLY[@]}"' "$contents/completions/canary-ctl.bash"
    for file in _canary-ctl canary-ctl.fish; do [ -s "$contents/completions/$file" ] || die "$file is empty"; done
    if have man; then
        expect "canary-ctl rollout start" env MANPAGER=cat man "$contents/man/man1/canary-ctl-rollout-start.1"
    else say "no \`man\` here: the manual pages were not rendered"; fi
    check_crates "$contents/THIRD-PARTY-LICENSES.txt"
    check_links "$contents"
    mkdir "$work/root"
    install_in "$work/root" "$tool"
    expect "canary-ctl $VERSION" in_root "$work/root" --version
}

# check_links FOLDER: each page that README.md names is in the archive too
check_links() {
    local links link
    links=$(grep -oE '\]\([^)#]+' "$1/README.md" | sed 's/^](//' | grep -vE '^(https?|mailto):' | sort -u)
    [ "$(wc -l <<<"$links")" -gt 20 ] || die "expected the links of README.md, found: $links"
    while read -r link; do
        [ -e "$1/$link" ] || die "README.md of the archive names $link, which is not there"
    done <<<"$links"
}

# check_crates LICENSES: each crate of the binary has a licence there, and a line in the bill of materials
check_crates() {
    local bill=$DIST/canary-ctl-$VERSION.cdx.json crates name version
    crates=$(cargo tree --locked -p canary-ctl -e normal,no-proc-macro --prefix none --format '{p}' --target x86_64-unknown-linux-musl |
        grep -v '(/' | sed -n 's/^\([^ ]*\) v\([^ ]*\).*/\1 \2/p' | sort -u)
    [ "$(wc -l <<<"$crates")" -gt 100 ] || die "expected the crates of canary-ctl from cargo tree, found: $crates"
    while read -r name version; do
        grep -qE "^  $name ${version//./\\.}(:| |\$)" "$1" || die "no licence of $name $version in THIRD-PARTY-LICENSES.txt"
        [ ! -e "$bill" ] || grep -q "pkg:cargo/$name@${version//+/%2B}\"" "$bill" || die "no $name $version in ${bill##*/}"
    done <<<"$crates"
}

# By the real kubectl, where the lab is built.
check_plugin() {
    local kubectl=$PWD/$TOOLS_DIR/lab/bin/kubectl bin=$work/bin
    [ -x "$kubectl" ] || { say "no kubectl in $TOOLS_DIR/lab: the plugin was not tried" && return; }
    [ -z "$RUN" ] || { say "the plugin is tried on the processor that it is for" && return; }
    mkdir "$bin"
    ln -s "$work/$NAME/canary-ctl" "$bin/kubectl-canary"
    cp "$work/$NAME/completions/kubectl_complete-canary" "$bin"
    expect "Usage: kubectl canary" env "PATH=$bin:$PATH" "$kubectl" canary --help
    expect "rollback" env "PATH=$bin:$PATH" "$kubectl" __complete canary rol
    [ "$krew" = no ] || check_krew "$kubectl"
}

# check_krew KUBECTL: installed by the real krew, with our manifest and our archive
check_krew() {
    local krew root=$work/krew
    krew=$(tools/krew.sh)
    # Nothing is there to be fetched, as the archive is given; krew looks for git all the same.
    have git || die "git is missing; krew asks for it" "Debian and Ubuntu: apt-get install git"
    KREW_ROOT=$root "$krew" install --manifest="$DIST/krew.yaml" --archive="$DIST/$NAME.tar.gz" >"$work/krew.log" 2>&1 ||
        die "krew could not install the plugin" "$(tail -n 5 "$work/krew.log")"
    expect "canary-ctl $VERSION" env "PATH=$root/bin:$PATH" "$1" canary --version
    [ -s "$root/receipts/canary.yaml" ] || die "expected a receipt of krew for the plugin, found none"
}

# block HEADING: the commands under this heading of docs/install.md, for this processor
block() {
    sed -n "/^## $1/,/^## /{/^\`\`\`sh/,/^\`\`\`/{/^\`\`\`/d;p}}" docs/install.md | sed "s/linux-amd64/linux-$ARCHITECTURE/g"
}

# The commands of docs/install.md as they stand there, with a folder in place of the root of the file system.
check_page() {
    local root=$work/typed binary plugin
    mkdir -p "$root"/{etc/bash_completion.d,usr/local/bin,usr/local/share/zsh/site-functions,home/.config/fish/completions,files}
    cp "$DIST/SHA256SUMS" "$DIST/$NAME.tar.gz" "$root/files/"
    binary=$(block "The binary")
    # The last line asks a cluster, and the second block is that of krew.
    plugin=$(block "As a plugin of kubectl" | grep -vE "^kubectl (canary|krew) ")
    [ "$(wc -l <<<"$binary")" -ge 8 ] && [ "$(wc -l <<<"$plugin")" -ge 2 ] || die "expected the commands of docs/install.md, found: $binary $plugin"
    (cd "$root/files" && bash -euc "$(sed -E "s#^sudo ##; s# /(etc|usr)/# $root/\\1/#g; s# ~/# $root/home/#g" <<<"$binary
$plugin")" >&2) || die "a command of docs/install.md failed"
    expect "canary-ctl $VERSION" $RUN "$root/usr/local/bin/canary-ctl" --version
    expect "canary-ctl $VERSION" $RUN "$root/usr/local/bin/kubectl-canary" --version
    for file in etc/bash_completion.d/canary-ctl usr/local/share/zsh/site-functions/_canary-ctl \
        home/.config/fish/completions/canary-ctl.fish usr/local/share/man/man1/canary-ctl.1 usr/local/bin/kubectl_complete-canary; do
        [ -s "$root/$file" ] || die "expected /$file after the commands of docs/install.md, found none"
    done
}

check_image() {
    local root=$work/image config push
    have skopeo || apt_install skopeo || die "skopeo is missing; it reads the image" "Debian and Ubuntu: apt-get install skopeo"
    config=$(skopeo inspect --config "oci-archive:$DIST/$NAME.oci.tar:$VERSION")
    for expected in "\"architecture\": \"$ARCHITECTURE\"" '"User": "65532:65532"' '"/canary-ctl"'; do
        grep -qF -- "$expected" <<<"$config" || die "expected $expected in the image's configuration" "$config"
    done
    mkdir "$work/layout" "$root"
    tar -C "$work/layout" -xf "$DIST/$NAME.oci.tar"
    umoci raw unpack --image "$work/layout:$VERSION" "$root"
    expect "canary-ctl $VERSION" in_root "$root" --version
    # As docs/install.md pushes it, to a folder in place of a registry.
    push=$(block "The container image" | sed -nE "s#docker://[^ ]*#dir:$work/pushed#p")
    (cd "$DIST" && bash -euc "$push" >&2) || die "a command of docs/install.md failed"
    [ -s "$work/pushed/manifest.json" ] || die "expected the image after the commands of docs/install.md, found none"
    # Over TLS it comes as far as the name of the host: it has found root certificates, which the empty root file system has not.
    check_certificates "$root" "failed to lookup"
    check_certificates "$work/root" "certificate"
}

# The module as docs/operations.md copies it, to a folder in place of a registry.
check_module() {
    local copy folder=$work/in-registry
    mkdir "$folder"
    copy=$(sed -nE 's#^ *(skopeo copy .*) docker://.*/canary/filter:.*#\1 dir:copied#p' docs/operations.md)
    (cd "$folder" && $RUN "$work/$NAME/canary-ctl" module save --oci-layout image >saved && bash -euc "$copy" >&2) ||
        die "a command of docs/operations.md failed"
    expect "sha256:$(sha256sum <"$folder/copied/manifest.json" | cut -d ' ' -f 1)" cat "$folder/saved"
}

# check_certificates ROOT TEXT: the error of a server with TLS that does not exist has TEXT
check_certificates() {
    local output
    output=$(in_root "$1" module verify https://files.invalid/filter.wasm 2>&1) && die "expected module verify to fail, found: $output"
    grep -qi "$2" <<<"$output" || die "expected an error with '$2', found: $output"
}

(cd "$DIST" && sha256sum --check --quiet --strict SHA256SUMS)
check_archive
check_page
check_plugin
check_image
check_module

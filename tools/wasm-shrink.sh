#!/usr/bin/env bash
# Keeps only the wanted exports of a module and what they reach, then optimises it.
# Usage: tools/wasm-shrink.sh IN.wasm EXPORTS.txt OUT.wasm
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
readonly input=$1 exports=$2 output=$3

readonly MAX_BYTES=150000 # excluded; a proxy fetches and compiles this on every pod

# What rustc uses by default and every supported Envoy accepts; wasm-opt may use nothing else.
readonly FEATURES=(--mvp-features --enable-mutable-globals --enable-sign-ext --enable-nontrapping-float-to-int
    --enable-bulk-memory --enable-multivalue --enable-reference-types)

wanted_exports() { grep -v -e '^#' -e '^[[:space:]]*$' "$exports" | sort; }

# (--low-memory-unused: the stack grows down to address 0, so no valid address is below 1024 that something is added to.)
# A graph for wasm-metadce: the host reaches the wanted exports, and nothing else is a root.
export_graph() {
    wanted_exports | awk '
        { reaches = reaches sep "\"" $1 "\""; nodes = nodes ",\n  {\"name\": \"" $1 "\", \"export\": \"" $1 "\"}"; sep = ", " }
        END { print "[\n  {\"name\": \"host\", \"root\": true, \"reaches\": [" reaches "]}" nodes "\n]" }'
}

check_exports() {
    local found
    found=$(wasm-dis "$1" | sed -n 's/^ *(export "\([^"]*\)".*/\1/p' | sort)
    [ "$found" = "$(wanted_exports)" ] || die "the module's exports are not those of $exports (< expected, > found):
$(diff <(wanted_exports) <(echo "$found") || true)" "an export that is missing is one that the code does not have"
}

have wasm-metadce && have wasm-opt && have wasm-dis || apt_install binaryen ||
    die "binaryen (wasm-metadce, wasm-opt, wasm-dis) is missing" "Debian and Ubuntu: apt-get install binaryen; macOS: brew install binaryen"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export_graph >"$work/graph.json"
wasm-metadce "$input" --graph-file="$work/graph.json" "${FEATURES[@]}" -o "$work/kept.wasm" >"$work/removed.txt"
wasm-opt "$work/kept.wasm" -Oz --converge --low-memory-unused "${FEATURES[@]}" --strip-debug --strip-producers --strip-target-features -o "$work/out.wasm"
check_exports "$work/out.wasm"

size=$(wc -c <"$work/out.wasm")
say "$output: $size bytes ($(wc -c <"$input") before)"
[ "$size" -lt "$MAX_BYTES" ] || die "the module has $size bytes, expected less than $MAX_BYTES" "cargo bloat or twiggy shows what takes the room"
mkdir -p "$(dirname "$output")"
mv "$work/out.wasm" "$output.new" && mv "$output.new" "$output" # whole or not at all, a test may be reading it

#!/usr/bin/env bash
# Keeps only the wanted exports of a module and what they reach, then optimises it.
# Usage: tools/wasm-shrink.sh IN.wasm EXPORTS.txt OUT.wasm
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
readonly input=$1 exports=$2 output=$3

readonly LEAST_PANICS=8
readonly MAX_BYTES=165000 # excluded; a proxy fetches and compiles this on every pod

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

# What a panic calls, reduced to the trap that it ends in: its message would go to a standard error that the module does not have.
# Saves 1.9 kB, most of it where the messages and places are passed. The names are those of Rust's library, in either mangling.
trap_on_panic() {
    awk -v least="$LEAST_PANICS" '
        /^ \(func \$/ && $2 ~ /4core9panicking|(slice_index|slice_error|unwrap|expect)_fail|panic_already|raw_vec12handle_error|18handle_alloc_error/ {
            print; print "  (unreachable)"; print " )"; replaced++; inside = 1; next
        }
        inside { if ($0 == " )") inside = 0; next }
        { print }
        END { if (replaced < least) { print "found " replaced + 0 " functions of panics, expected " least " or more" >"/dev/stderr"; exit 1 } }'
}

have wasm-metadce && have wasm-opt && have wasm-dis && have wasm-as || apt_install binaryen ||
    die "binaryen (wasm-metadce, wasm-opt, wasm-dis, wasm-as) is missing" "Debian and Ubuntu: apt-get install binaryen; macOS: brew install binaryen"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export_graph >"$work/graph.json"
wasm-metadce "$input" -g --graph-file="$work/graph.json" "${FEATURES[@]}" -o "$work/kept.wasm" >"$work/removed.txt"
wasm-dis "$work/kept.wasm" | trap_on_panic >"$work/traps.wat"
wasm-as "$work/traps.wat" "${FEATURES[@]}" -o "$work/traps.wasm"
wasm-opt "$work/traps.wasm" -Oz --converge --low-memory-unused "${FEATURES[@]}" --strip-debug --strip-producers --strip-target-features -o "$work/out.wasm"
check_exports "$work/out.wasm"

size=$(wc -c <"$work/out.wasm")
say "$output: $size bytes ($(wc -c <"$input") before)"
[ "$size" -lt "$MAX_BYTES" ] || die "the module has $size bytes, expected less than $MAX_BYTES" "cargo bloat or twiggy shows what takes the room"
mkdir -p "$(dirname "$output")"
mv "$work/out.wasm" "$output.new" && mv "$output.new" "$output" # whole or not at all, a test may be reading it

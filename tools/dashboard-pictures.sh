#!/usr/bin/env bash
# Takes docs/dashboard.png and docs/dashboard-dark.png: the page of the demo's release at 30 %, as Chromium shows it in light and dark.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

chromium=$(tools/chromium.sh)
said=$(mktemp)
tools/demo.sh >"$said" </dev/null & # the demo goes on until it is ended
demo=$!
trap 'kill -INT "$demo"; wait "$demo" || true; rm "$said"' EXIT
until url=$(sed -n 's/.*move with the weight: //p' "$said") && grep -q 'weight 20 --wait' "$said"; do
    kill -0 "$demo" 2>/dev/null || die "the demo has ended before it was up" "read what it has printed"
    sleep 1
done
ctl=$(sed -n 's/.*alias canary-ctl=\([^;]*\);.*/\1/p' "$said")
(cd "$(sed -n 's/.*; cd //p' "$said")" && "$ctl" weight 30 --wait >&2)
sleep 30 # shoppers arrive

# picture FILE SCHEME: 0 is dark, 1 is light.
picture() {
    "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1180,900 --virtual-time-budget=20000 \
        --blink-settings=preferredColorScheme="$2" --screenshot="$PWD/docs/$1" "$url" 2>/dev/null
}
picture dashboard.png 1
picture dashboard-dark.png 0
say "docs/dashboard.png, docs/dashboard-dark.png"

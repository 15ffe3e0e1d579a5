#!/usr/bin/env bash
# Builds the documentation site into target/site/book, and checks that its links lead somewhere.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readonly VERSION=0.5.4 ROOT=$TOOLS_DIR/mdbook SITE=$TARGET_DIR/site
[ -x "$ROOT/bin/mdbook" ] || {
    say "building mdbook $VERSION into $ROOT (minutes, once)"
    cargo install --quiet --locked --no-default-features --features search --root "$ROOT" "mdbook@$VERSION"
}
rm -rf "$SITE"
mkdir -p "$SITE/pages"
# The pages, and the files that they show or lead to, sources among them.
git ls-files -co --exclude-standard -- . ':!ctl/dashboard/src/assets' | tar -cT - | tar -xC "$SITE/pages"
# mdBook names the page of a folder index.html, and leaves links to its README.md as they are.
find "$SITE/pages" -name '*.md' -not -name SUMMARY.md -exec sed -i -E 's#\]\(([^):]*/)?README\.md#](\1index.md#g' {} +
cp tools/site/book.toml "$SITE/"
mv "$SITE/pages/tools/site/SUMMARY.md" "$SITE/pages/"
"$ROOT/bin/mdbook" build "$SITE"

# A page names another file of the site by a relative path; what it names outside is an address.
broken=0
while IFS=: read -r page link; do
    target=${link#href=\"} && target=${target%\"} && target=${target%%#*}
    case $target in "" | *://* | mailto:*) continue ;; esac
    [ -e "$(dirname "$page")/$target" ] || { say "$page leads to $target, which does not exist" && broken=$((broken + 1)); }
done < <(grep -roE 'href="[^"]*"' --include='*.html' "$SITE/book" | sort -u)
[ "$broken" = 0 ] || die "$broken links of the site lead nowhere"
say "written: $SITE/book/index.html"

// The page: which release is shown, and an observation every two seconds while somebody looks at it.

import { releasePath, request, takeToken } from "./client.js";
import { h, section, table, weight } from "./dom.js";
import { ReleasePage } from "./release.js";

const RELEASE_INTERVAL = 2000;
const LIST_INTERVAL = 10000;

const main = document.getElementById("main");
const fault = document.getElementById("fault");
const freshness = document.getElementById("freshness");
let shown = { name: undefined, page: undefined, timer: undefined };

class ListPage {
  constructor() {
    this.filter = h("input", { type: "search", id: "filter", autocomplete: "off" });
    this.filter.addEventListener("input", () => this.show());
    this.rows = [];
    this.list = h("div", {});
    main.replaceChildren(section("releases", "Releases", { class: "wide" },
      h("p", {}, h("label", { for: "filter" }, "Show names that contain "), this.filter), this.list));
  }

  draw(rows) {
    this.rows = rows;
    this.show();
  }

  show() {
    const wanted = this.rows.filter((row) => row.release.includes(this.filter.value));
    const focused = document.activeElement?.getAttribute?.("href");
    this.list.replaceChildren(table(
      ["Release", "Stable", "Canary", "#Weight", "#Generation", "Notes"], wanted.map(listRow),
      `${wanted.length} of ${this.rows.length}`));
    if (focused) this.list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

function listRow(row) {
  const link = h("a", { href: `#/${row.release}` }, row.release);
  const share = row.effective === undefined ? "–" : weight(row.effective);
  return [link, row.stable ?? "–", row.canary ?? "–", share, `${row.generation ?? "–"}`, row.notes.join(", ")];
}

function show() {
  clearTimeout(shown.timer);
  const name = location.hash.replace(/^#\/?/, "");
  const path = releasePath(name);
  fault.replaceChildren();
  const title = path === undefined ? "Releases" : name;
  document.getElementById("title").textContent = title;
  document.title = `${title} – canary-ctl`;
  shown = { name, path: path ?? "/api/releases", page: undefined, timer: undefined };
  main.replaceChildren();
  observe(shown);
}

async function observe(page) {
  const isRelease = page.path !== "/api/releases";
  if (document.visibilityState === "visible") {
    try {
      const data = await request(page.path);
      if (page !== shown) return;
      page.page ??= isRelease ? new ReleasePage(main, page.path, () => observeNow(page)) : new ListPage();
      page.page.draw(data);
      freshness.textContent = `observed at ${new Date().toLocaleTimeString()}`;
      fault.replaceChildren();
    } catch (error) {
      if (page !== shown) return;
      freshness.textContent = "not observed";
      const text = `${error.message}`;
      if (fault.textContent !== text + (error.hint ?? "")) {
        fault.replaceChildren(h("p", { class: "bad" }, text), h("p", { class: "hint" }, error.hint ?? ""));
      }
    }
  }
  page.timer = setTimeout(() => observe(page), isRelease ? RELEASE_INTERVAL : LIST_INTERVAL);
}

function observeNow(page) {
  if (page !== shown) return;
  clearTimeout(page.timer);
  observe(page);
}

takeToken();
addEventListener("hashchange", () => {
  takeToken();
  show();
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment says which release is shown
  main.focus();
});
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    clearTimeout(shown.timer);
    observe(shown);
  }
});
show();

// The crowd: 200 dots. A dot has the same number for ever, and the first dots are the canary's, as the users with the smallest
// buckets are: a weight that rises moves dots to the canary and none back.

import { h, mark, outline, percent, svg } from "./dom.js";

const DOTS = 200;
const ZONE = { width: 300, height: 164, columns: 20, step: 14, left: 17, top: 19 };

export class Crowd {
  constructor() {
    this.dots = Array.from({ length: DOTS }, () => svg("path", { class: "dot", visibility: "hidden" }));
    this.zones = svg("g", {});
    this.legend = h("ul", { class: "legend" });
    this.picture = svg("svg", { class: "crowd", role: "img", "aria-label": "Users" }, this.zones, ...this.dots);
  }

  /** Draws an observation. Where nothing was counted the dots stay where they were. */
  draw(view) {
    const order = { canary: 0, draining: 1, stable: 2 };
    const place = { stable: 0, canary: 1, draining: 2 };
    const versions = [...view.versions].sort((a, b) => place[a.role] - place[b.role]);
    this.picture.setAttribute("viewBox", `0 0 ${ZONE.width * versions.length} ${ZONE.height}`);
    this.zones.replaceChildren(...versions.map(zone));
    const all = versions.reduce((sum, version) => sum + version.requests, 0);
    this.legend.replaceChildren(...versions.map((version) => entry(version, all)));
    if (all === 0) return false;
    let next = 0;
    for (const version of [...versions].sort((a, b) => order[a.role] - order[b.role])) {
      for (let at = 0; at < version.dots; at += 1) {
        this.put(next, at, version.role, versions.indexOf(version));
        next += 1;
      }
    }
    return true;
  }

  put(number, at, role, zoneNumber) {
    const dot = this.dots[number];
    if (dot === undefined) return;
    const x = zoneNumber * ZONE.width + ZONE.left + (at % ZONE.columns) * ZONE.step;
    const y = ZONE.top + Math.floor(at / ZONE.columns) * ZONE.step;
    dot.setAttribute("d", outline(role));
    dot.setAttribute("class", `dot ${role}`);
    dot.setAttribute("visibility", "visible");
    dot.style.transform = `translate(${x}px, ${y}px)`;
  }
}

function zone(_version, number) {
  const left = number * ZONE.width;
  return svg("rect", { class: "zone", x: left + 3, y: 3, width: ZONE.width - 6, height: ZONE.height - 6, rx: 6 });
}

function entry(version, all) {
  const text = ` ${version.name}: ${percent(version.requests, all)} (${version.requests} requests)`;
  return h("li", {}, mark(version.role), text);
}

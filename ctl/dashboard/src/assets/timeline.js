// The weight of the canary over time, as the record tells it: from its first change to now. Each change is a mark that says who did what.

import { svg } from "./dom.js";

const SIZE = { width: 520, height: 130, left: 40, right: 8, top: 10, bottom: 24 };

/** The picture; nothing without a change. The list beside it has the same in words. */
export function timeline({ history, weight, at }) {
  if (history.length === 0) return undefined;
  const changes = [...history].reverse().map((entry) => ({ ...entry, time: Date.parse(entry.at) }));
  const [first, now] = [changes[0].time, Math.max(Date.parse(at), changes[changes.length - 1].time + 1)];
  const inner = { width: SIZE.width - SIZE.left - SIZE.right, height: SIZE.height - SIZE.top - SIZE.bottom };
  const x = (time) => SIZE.left + ((time - first) / (now - first)) * inner.width;
  const y = (basisPoints) => SIZE.top + (1 - basisPoints / 10000) * inner.height;
  const steps = changes.map(({ time, weight: to }) => `H${x(time)}V${y(to)}`);
  const asked = svg("path", { class: "asked", d: `M${x(first)} ${y(changes[0].weight)}${steps.join("")}H${x(now)}` });
  const marks = changes.map(({ time, weight: to, text }) =>
    svg("circle", { class: "canary", cx: x(time), cy: y(to), r: 3.5 }, svg("title", {}, text)));
  const grid = [0, 5000, 10000].flatMap((level) => [
    svg("line", { class: "grid", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: y(level), y2: y(level) }),
    svg("text", { x: SIZE.left - 6, y: y(level) + 4, "text-anchor": "end" }, `${level / 100}%`),
  ]);
  const label = (time, anchor) =>
    svg("text", { x: x(time), y: SIZE.height - 6, "text-anchor": anchor }, new Date(time).toLocaleString());
  return svg("svg", {
    class: "timeline", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img",
    "aria-label": `Weight of the canary over time, now ${weight / 100}%`,
  }, ...grid, asked, ...marks, label(first, "start"), label(now, "end"));
}

// The failed responses of both versions over time, with the changes of the release in that time. A line is a share of responses.

import { percent, svg } from "./dom.js";

const SIZE = { width: 520, height: 130, left: 48, right: 8, top: 10, bottom: 24 };
const LEAST_SCALE = 0.01;

const share = ({ responses, failed }) => (responses === 0 ? 0 : failed / responses);

/** The picture; nothing where nothing was counted. */
export function failures({ failures: intervals, history, rollout, at }) {
  if (intervals.length === 0) return undefined;
  const parts = intervals.map((one) => ({ ...one, start: Date.parse(one.from), end: Date.parse(one.to) }));
  const [first, last] = [parts[0].start, parts[parts.length - 1].end];
  const top = Math.max(LEAST_SCALE, ...parts.flatMap(({ canary, stable }) => [share(canary), share(stable)]));
  const x = (time) => SIZE.left + ((time - first) / Math.max(1, last - first)) * (SIZE.width - SIZE.left - SIZE.right);
  const y = (part) => SIZE.top + (1 - part / top) * (SIZE.height - SIZE.top - SIZE.bottom);
  const line = (role) => svg("g", { class: `failed ${role}` }, ...parts.map((part) => {
    const { responses, failed } = part[role];
    const title = `${role}: ${failed} of ${responses} failed (${percent(failed, responses)}), until ${new Date(part.end).toLocaleTimeString()}`;
    return svg("path", { d: `M${x(part.start)} ${y(share(part[role]))}H${x(part.end)}` }, svg("title", {}, title));
  }));
  const within = (time) => time >= first && time <= last;
  const changes = history.map((entry) => ({ ...entry, time: Date.parse(entry.at) })).filter(({ time }) => within(time));
  const marks = changes.map(({ time, text }) => svg("line", {
    class: "change", x1: x(time), x2: x(time), y1: SIZE.top, y2: SIZE.height - SIZE.bottom,
  }, svg("title", {}, text)));
  const label = (time, anchor) =>
    svg("text", { x: x(time), y: SIZE.height - 6, "text-anchor": anchor }, new Date(time).toLocaleString());
  const grid = [0, top].flatMap((level) => [
    svg("line", { class: "grid", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: y(level), y2: y(level) }),
    svg("text", { x: SIZE.left - 6, y: y(level) + 4, "text-anchor": "end" }, percent(level, 1)),
  ]);
  return svg("svg", {
    class: "timeline failures", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img",
    "aria-label": "Failed responses of both versions over time",
  }, ...grid, held(rollout, at, { x, first, last }), ...marks, line("stable"), line("canary"), label(first, "start"), label(last, "end"));
}

/** The hold that lasts. */
function held(rollout, at, { x, first, last }) {
  if (!rollout?.heldSince) return undefined;
  const [from, to] = [Math.max(first, Date.parse(rollout.heldSince)), Math.min(last, Date.parse(at))];
  const place = { x: x(from), width: Math.max(1, x(to) - x(from)), y: SIZE.top, height: SIZE.height - SIZE.top - SIZE.bottom };
  return svg("rect", { class: "held", ...place }, svg("title", {}, `held since ${rollout.heldSince}`));
}

// The page of one release. The crowd stays, so that its dots move; the tables are drawn anew with each observation.

import { ChangeSection } from "./change.js";
import { Crowd } from "./crowd.js";
import { failures } from "./failures.js";
import { timeline } from "./timeline.js";
import { bar, h, mark, percent, section, table, weight } from "./dom.js";

export class ReleasePage {
  constructor(main, path, changed) {
    this.change = new ChangeSection(path, changed);
    this.crowd = new Crowd();
    this.note = h("p", { class: "hint" });
    const users = section("users", "Users", { class: "wide" },
      this.crowd.legend, this.crowd.picture, this.note);
    this.parts = {};
    for (const id of ["problems", "rollout", "weight", "versions", "responses", "proxies", "history"]) {
      this.parts[id] = h("div", { id: `${id}-part` });
    }
    const { problems, rollout, ...rest } = this.parts;
    problems.className = rollout.className = "wide";
    for (const part of [problems, rollout]) part.style.gridColumn = "1 / -1";
    main.replaceChildren(problems, users, this.change.element, rollout, ...Object.values(rest));
  }

  draw(view) {
    const { parts } = this;
    this.change.draw(view);
    const isDrawn = this.crowd.draw(view);
    this.note.replaceChildren(isDrawn
      ? `Each dot is 0.5% of the requests of the last ${view.seconds || 1} s, those of testers left out.`
      : "No request was counted since the release has changed.");
    parts.problems.replaceChildren(...view.problems.map(problem));
    parts.rollout.replaceChildren(...(view.rollout === null ? [] : [rollout(view.rollout)]));
    parts.weight.replaceChildren(weights(view));
    parts.versions.replaceChildren(versions(view));
    parts.responses.replaceChildren(responses(view));
    parts.proxies.replaceChildren(proxies(view));
    parts.history.replaceChildren(section("history", "History", {}, timeline(view),
      ...failureSection(view),
      h("div", { class: "scroll history" }, h("ul", {}, ...view.history.map(({ text }) => h("li", {}, text))))));
  }
}

function problem({ message, hint }) {
  return h("div", { class: "problem" },
    h("p", {}, h("span", { class: "bad" }, "Problem: "), message), h("p", { class: "hint" }, hint));
}

function failureSection(view) {
  const picture = failures(view);
  return picture === undefined ? [] : [h("h3", {}, "Failed responses"), picture];
}

function rollout({ summary, phase, reason, steps, evidence }) {
  const waits = phase === null ? undefined : h("p", { id: "waits" }, `${phase}: ${reason}`);
  const step = (at) => {
    const state = at.isCurrent ? " (now)" : at.isDone ? " (done)" : "";
    return h("li", { class: at.isCurrent ? "now" : undefined }, weight(at.weight) + state);
  };
  const kinds = evidence.map(({ text, detail }) =>
    h("li", {}, text, ...(detail ? [h("div", { class: "hint" }, detail)] : [])),
  );
  return section("rollout", "Rollout", {}, h("p", {}, summary), waits,
    h("ol", { class: "steps", "aria-label": "Steps" }, ...steps.map(step)), h("ul", {}, ...kinds));
}

function weights(view) {
  const fraction = view.weight / 10000;
  const rows = [["asked", weight(view.weight), bar(0, fraction)]];
  if (view.effective !== view.weight) {
    rows.push(["in force", weight(view.effective), bar(0, view.effective / 10000)]);
  }
  const seen = (name, share) => {
    const range = `${percent(share.low, 1)} to ${percent(share.high, 1)}`;
    const text = share.of === 0 ? "none" : `${share.canary} of ${share.of} (${range})`;
    rows.push([name, text, share.of === 0 ? "" : bar(share.low, share.high, "interval")]);
  };
  if (view.seen !== null) {
    if (view.seen.newSessions !== undefined) seen("seen: new sessions", view.seen.newSessions);
    seen("seen: requests", view.seen.requests);
    if (view.seen.overridden > 0) rows.push(["testers", `${view.seen.overridden} requests`, ""]);
    if (view.seen.adopted > 0) rows.push(["older than the filter", `${view.seen.adopted} requests`, ""]);
  }
  const facts = [`Generation ${view.generation}.`];
  if (view.until !== null) facts.push(`The weight ends at ${view.until}.`);
  if (view.paused !== null) facts.push(`Paused by ${view.paused}.`);
  return section("weight", "Weight of the canary", {},
    table(["", "", ""], rows, "With the 95% interval of what was seen"), h("p", {}, facts.join(" ")));
}

function versions(view) {
  const all = view.versions.reduce((sum, version) => sum + version.requests, 0);
  const row = (version) => {
    const { ready, all: pods } = version.pods ?? {};
    const isBad = ready === 0;
    const text = version.pods === null ? "–" : `${ready}/${pods}${isBad ? " !" : ""}`;
    return [version.name, mark(version.role), h("span", { class: isBad ? "bad" : undefined }, text),
      `${version.requests}`, percent(version.requests, all), `${version.sessions}`];
  };
  return section("versions", "Versions", {}, h("div", { class: "scroll" },
    table(["Version", "Role", "Ready", "#Requests", "#Share", "#Of sessions"], view.versions.map(row))));
}

function responses(view) {
  const classes = [...new Set(view.versions.flatMap((version) => Object.keys(version.responses)))].sort();
  const totals = view.versions.map((version) => Object.values(version.responses).reduce((a, b) => a + b, 0));
  const cell = (version, at, name) => {
    const count = version.responses[name] ?? 0;
    const isBad = name === "5xx" && count > 0;
    return h("span", { class: isBad ? "bad" : undefined }, `${count} (${percent(count, totals[at])})`);
  };
  const rows = classes.map((name) => [name, ...view.versions.map((version, at) => cell(version, at, name))]);
  const columns = view.versions.map((version) => `#${version.name}`);
  return section("responses", "Responses by status class", {}, h("div", { class: "scroll" },
    table(["Class", ...columns], rows, `In the last ${view.seconds || 1} s`)));
}

function proxies(view) {
  const state = ({ isCurrent, fault, generation }) => {
    if (fault !== null) return h("span", { class: "bad" }, `! ${fault}`);
    if (isCurrent) return h("span", { class: "good" }, "✓ current");
    return h("span", { class: "bad" }, generation === null ? "! does not run the release" : "! another generation");
  };
  const rows = view.proxies.map((proxy) => [proxy.name, `${proxy.generation ?? "–"}`, state(proxy)]);
  const current = view.proxies.filter((proxy) => proxy.isCurrent).length;
  return section("proxies", "Proxies", {}, h("div", { class: "scroll" },
    table(["Proxy", "#Generation", "State"], rows, `${current} of ${rows.length} run generation ${view.generation}`)));
}

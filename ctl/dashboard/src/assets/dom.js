// Elements from text. Nothing here parses markup: whatever a cluster sends stays text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

/** An element with attributes and children; strings become text. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same in SVG. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** A section with a heading that names it. */
export function section(id, title, attributes, ...children) {
  const heading = h("h2", { id: `${id}-heading` }, title);
  return h("section", { id, "aria-labelledby": `${id}-heading`, ...attributes }, heading, ...children);
}

/** A table; cells are strings or elements, and a column whose name begins with "#" holds numbers. */
export function table(columns, rows, caption) {
  const name = (column) => column.replace(/^#/, "");
  const kind = (column) => (column.startsWith("#") ? "number" : undefined);
  const head = columns.map((column) => h("th", { scope: "col", class: kind(column) }, name(column)));
  const body = rows.map((cells) =>
    h("tr", {}, ...cells.map((cell, at) => h("td", { class: kind(columns[at]) }, cell))));
  const title = caption === undefined ? undefined : h("caption", {}, caption);
  return h("table", {}, title, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body));
}

/** The outline of a role, 10 units wide: a circle, a diamond, a square. */
export function outline(role) {
  return { stable: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", canary: "M0-6l6 6-6 6-6-6z" }[role]
    ?? "M-4-4h8v8h-8z";
}

/** The shape and the name of a role. */
export function mark(role) {
  const shape = svg("path", { d: outline(role), class: role });
  const picture = svg("svg", { class: "mark", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, shape);
  return h("span", { class: "role" }, picture, role);
}

/** A share in percent, as a bar. `from` and `to` are `0..=1`. */
export function bar(from, to, kind) {
  const part = h("span", { class: kind });
  part.style.left = `${from * 100}%`;
  part.style.width = `${Math.max(to - from, 0.004) * 100}%`;
  return h("div", { class: "bar", "aria-hidden": "true" }, part);
}

/** Basis points as percent, as the tool prints them. */
export function weight(basisPoints) {
  return `${basisPoints / 100}%`;
}

/** A share with one digit. */
export function percent(part, of) {
  return of === 0 ? "–" : `${((100 * part) / of).toFixed(1)}%`;
}

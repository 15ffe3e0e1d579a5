// Requests to the dashboard's server. The token comes in the fragment of the URL, which no browser sends, and stays in this tab.

const KEY = "canary-ctl-token";

/** Takes the token from the URL, so that neither history nor bookmarks have it. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.replace(/^#/, ""));
  const token = given.get("token");
  if (token === null) return;
  sessionStorage.setItem(KEY, token);
  const release = given.get("release");
  history.replaceState(null, "", release === null ? "#/" : `#/${release}`);
}

/** An error of the server, or of the connection to it. */
export class Fault extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/** The data at a path. */
export async function request(path, options) {
  let response;
  const token = sessionStorage.getItem(KEY) ?? "";
  const headers = { Authorization: `Bearer ${token}`, ...options?.headers };
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Fault("The dashboard does not respond.", "Is `canary-ctl dashboard` still running?");
  }
  const data = await response.json();
  if (!response.ok) throw new Fault(data.error, data.hint);
  return data;
}

/** The path of a release's data; `undefined` where the name is none. */
export function releasePath(name) {
  return /^[a-z0-9.-]+\/[a-z0-9.-]+$/.test(name) ? `/api/releases/${name}` : undefined;
}

// Changes of a release. The server says first what a change would do; a person confirms that, and only then is it carried out.

import { request } from "./client.js";
import { h, section } from "./dom.js";

const LABELS = {
  weight: "Set the weight", pause: "Pause", resume: "Resume", rollback: "Roll back",
  rollbackNow: "Roll back, and end its sessions",
  approveRollout: "Approve the step", pauseRollout: "Pause the rollout", resumeRollout: "Resume the rollout",
  retryRollout: "Retry the step", abortRollout: "Abort the rollout", promoteRollout: "Promote now",
};

export class ChangeSection {
  /** `changed` is called when something was written. */
  constructor(path, changed) {
    this.path = path;
    this.changed = changed;
    this.weight = h("input", { id: "new-weight", inputmode: "decimal", size: 6, maxlength: 8, autocomplete: "off" });
    this.reason = h("input", { id: "reason", size: 24, maxlength: 200, autocomplete: "off" });
    this.forms = h("div", { class: "changes" });
    this.result = h("div", { id: "change-result", role: "status" });
    this.dialog = h("dialog", { "aria-labelledby": "dialog-heading" });
    this.element = section("change", "Change", { class: "wide", hidden: true }, this.forms, this.result, this.dialog);
    this.offered = "";
  }

  /** Draws the buttons anew only if others are offered: what a person types stays. */
  draw({ changes, generation }) {
    this.generation = generation;
    if (changes.join() === this.offered) return;
    this.offered = changes.join();
    this.element.hidden = changes.length === 0;
    this.forms.replaceChildren(...changes.map((change) => this.form(change)));
  }

  form(change) {
    const button = h("button", { type: "submit", id: `change-${change}` }, `${LABELS[change]}…`);
    const field = { weight: this.weight, pause: this.reason }[change];
    const name = { weight: "Percent ", pause: "Reason " }[change];
    const label = field === undefined ? undefined : h("label", { for: field.id }, name);
    const form = h("form", {}, label, field, button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask(change);
    });
    return form;
  }

  async ask(change) {
    const body = { change, expectedGeneration: this.generation };
    if (change === "weight") body.weight = this.weight.value.trim().replace(",", ".");
    if (change === "pause" && this.reason.value.trim() !== "") body.reason = this.reason.value.trim();
    const preview = await this.post({ ...body, dryRun: true });
    if (preview === undefined || !await this.confirm(LABELS[change], preview.lines)) return;
    this.result.replaceChildren(h("p", {}, `${LABELS[change]}: under way`));
    const report = await this.post({ ...body, dryRun: false });
    if (report === undefined) return;
    this.result.replaceChildren(...report.lines.map((line) => h("p", {}, line)));
    this.weight.value = this.reason.value = "";
    this.changed();
  }

  async post(body) {
    try {
      const headers = { "Content-Type": "application/json" };
      return await request(`${this.path}/change`, { method: "POST", headers, body: JSON.stringify(body) });
    } catch (error) {
      this.result.replaceChildren(
        h("p", { class: "bad" }, error.message), h("p", { class: "hint" }, error.hint ?? ""));
      return undefined;
    }
  }

  /** Whether a person confirms what will happen. Escape is no. */
  confirm(title, lines) {
    const cancel = h("button", { type: "button", autofocus: true }, "Cancel");
    const confirm = h("button", { type: "button", id: "confirm", class: "primary" }, title);
    this.dialog.replaceChildren(h("h2", { id: "dialog-heading" }, `${title}?`),
      ...lines.map((line) => h("p", {}, line)), h("p", { class: "buttons" }, cancel, confirm));
    return new Promise((decide) => {
      let isConfirmed = false;
      this.dialog.addEventListener("close", () => decide(isConfirmed), { once: true });
      cancel.addEventListener("click", () => this.dialog.close());
      confirm.addEventListener("click", () => {
        isConfirmed = true;
        this.dialog.close();
      });
      this.dialog.showModal();
    });
  }
}

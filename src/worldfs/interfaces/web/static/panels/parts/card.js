// A card: a title, the file that it stands for, and its content.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { t } from "../../texts.js";
import { Said } from "./plain_text.js";

export function treeAddress(path) { return `#${new URLSearchParams({ panel: "tree", path })}`; }

export function FileLink({ path, label }) {
  return html`<a class="file" href=${treeAddress(path)} title=${t("part.file")}><bdi>${label || path}</bdi></a>`;
}

export function Card({ title, path, children, wide, id }) {
  return html`<section class=${`card part ${wide ? "wide" : ""}`} aria-label=${title} data-part=${id}>
    <div class="part-head"><h2>${title}</h2>${path && html`<${FileLink} path=${path} />`}</div>
    ${children}
  </section>`;
}

// What a write answered, or why it was refused. Returns [node, run]: run(promise) shows its end.
export function useAnswer() {
  const [answer, set] = useState(null);
  const run = async (work, done = "") => {
    set({ busy: true });
    try { const value = await work; set(done ? { text: done } : null); return value; }
    catch (error) { set({ error: error.message || String(error), fix: error.fix }); return undefined; }
  };
  const node = answer && (answer.busy ? html`<p class="dim" role="status">${t("part.sending")}</p>`
    : answer.error ? html`<p class="error" role="alert"><${Said} text=${answer.error} /></p>` : html`<p class="good" role="status">${answer.text}</p>`);
  return [node, run, Boolean(answer?.busy)];
}

// The state of a file that is followed: what to show instead of it, or null.
export function notYet(file, empty) {
  if (file.value === undefined && file.loading) return html`<p class="dim">${t("error.loading")}</p>`;
  if (file.error && (file.value === undefined || file.value === null))
    return html`<p class="dim">${empty && file.error.code === "enoent" ? empty : html`<${Said} text=${file.error.message} />`}</p>`;
  return null;
}

// Editing with compare and swap: a save names the revision that was read. If another writer was faster, both texts are
// shown side by side, and nothing is written until a person has chosen: keep mine, take theirs, or merge by hand. A file
// that is computed has no revision: there the text itself is compared, a moment before it is written. A file that takes
// orders has no content: what is sent is one order.
import { html } from "htm/preact";
import { useSignal } from "@preact/signals";
import { t } from "../texts.js";
import { visibleText } from "./tree_content.js";

const MOST = 400000; // bytes that the editor takes
const TRIES = 5; // of a file that changes while it is read

export function Editor({ world, path, stored, order }) {
  const mine = useSignal(null); // the text in the box; null: nothing is edited
  const base = useSignal(null); // {text, revision} that it began from
  const theirs = useSignal(null); // what is stored instead of the base
  const merging = useSignal(false), said = useSignal(null), busy = useSignal(false);

  const end = () => { mine.value = null; base.value = null; theirs.value = null; merging.value = false; };
  const run = async (work) => {
    busy.value = true;
    said.value = null;
    try { await work(); } catch (error) { said.value = { good: false, text: error.message }; }
    busy.value = false;
  };
  const begin = () => run(async () => { base.value = order ? null : await read(world, path, stored); mine.value = base.value?.text ?? ""; });
  const save = () => run(async () => {
    const other = await put(world, path, mine.value, base.value, stored);
    if (other.conflict) { theirs.value = other.conflict; merging.value = false; return; }
    said.value = { good: true, text: other.job ? t("tree.ordered", { job: other.job }) : t(order ? "tree.sent" : "tree.saved") };
    end();
  });
  const onTheirs = (work) => () => { base.value = theirs.value; work(); };
  const keepMine = onTheirs(() => { theirs.value = null; save(); });
  const takeTheirs = onTheirs(() => { mine.value = theirs.value.text; theirs.value = null; });
  const merge = onTheirs(() => { merging.value = true; });

  if (mine.value === null) return html`<div class="editor"><${Said} said=${said.value} />
    <button type="button" onClick=${begin} disabled=${busy.value}>${t(order ? "tree.order" : "tree.edit")}</button></div>`;
  const asked = theirs.value !== null && !merging.value;
  return html`<div class="editor">
    ${asked && html`<section class="conflict notice warn" role="alertdialog" aria-label=${t("tree.conflict")}>
      <p><strong>${t("tree.conflict")}.</strong> ${t("tree.conflict_said")}</p>
      <div class="sides"><${Side} title=${t("tree.yours")} text=${mine.value} /><${Side} title=${t("tree.theirs")} text=${theirs.value.text} /></div>
      <p class="buttons"><button type="button" class="primary" onClick=${keepMine} disabled=${busy.value}>${t("tree.keep_mine")}</button>
        <button type="button" onClick=${takeTheirs}>${t("tree.take_theirs")}</button>
        <button type="button" onClick=${merge}>${t("tree.merge")}</button></p>
    </section>`}
    <${Said} said=${said.value} />
    <div class=${merging.value ? "sides" : ""}>
      <label class="text"><span class=${merging.value ? "side-title" : "hidden"}>${t("tree.editor")}</span>
        <textarea class="mono" spellcheck=${false} dir="ltr" rows=${order ? 6 : 18} value=${mine.value} disabled=${asked} onInput=${(event) => { mine.value = event.target.value; }}></textarea></label>
      ${merging.value && html`<${Side} title=${t("tree.theirs")} text=${theirs.value.text} />`}
    </div>
    <p class="buttons"><button type="button" class="primary" onClick=${save} disabled=${busy.value || asked}>${t(order ? "tree.send" : "tree.save")}</button>
      <button type="button" onClick=${end}>${t("tree.cancel")}</button></p>
  </div>`;
}

function Said({ said }) {
  return said && html`<p role=${said.good ? "status" : "alert"} class=${said.good ? "good" : "error"}><bdi>${said.text}</bdi></p>`;
}

function Side({ title, text }) {
  return html`<div><h3 class="side-title">${title}</h3><pre class="content" tabindex="0" aria-label=${title}><bdi>${visibleText(text)}</bdi></pre></div>`;
}

// The server's answer; {conflict: {text, revision}} where something else than `base` is stored.
async function put(world, path, text, base, stored) {
  if (base === null) return world.write(path, text);
  if (!stored) {
    const present = await read(world, path, false);
    if (present.text !== base.text) return { conflict: present };
    return world.write(path, text);
  }
  try { return await world.write(path, text, { base: base.revision }); }
  catch (error) {
    if (error.code !== "conflict") throw error;
    return { conflict: await read(world, path, true) };
  }
}

// The text and the revision that belong together: the revision is the same before and after the read.
async function read(world, path, stored) {
  for (let tries = 0; ; tries += 1) {
    const before = stored ? (await world.stat(path)).revision : "";
    const data = await world.read(path, { wait: 0, limit: MOST + 1 });
    if (data.length > MOST) throw new Error(t("tree.too_large"));
    const after = stored ? (await world.stat(path)).revision : "";
    if (before === after) return { text: textOf(data), revision: after };
    if (tries === TRIES) throw new Error(t("tree.changing"));
  }
}

function textOf(data) {
  try { return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data); }
  catch { throw new Error(t("tree.not_text")); }
}

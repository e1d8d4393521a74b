// The tree: every file with its README, its rights and an editor that sees what others write meanwhile.
import { html } from "htm/preact";
import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { liveBytes, liveList, liveText } from "../live_file.js";
import { dateText, language, t } from "../texts.js";
import { texts as treeTexts } from "./tree_texts.js";
import { Editor } from "./tree_editor.js";
import { bytesText, contentOf, visibleText } from "./tree_content.js";
import { rowOf } from "./tree_rows.js";
import { markdown } from "../markdown.js";

export const texts = treeTexts;

const PAGE = 200; // rows of one directory that are drawn at once
const OWN = "/agents/self/events/next.json"; // an event is told once: whoever else read it would take it from the page
const NARROW = "(max-width: 760px)"; // as in style.css
const BESIDE = 60000; // characters of a README or a schema
const opened = signal(new Set(["/"])); // directories
const chosen = signal(fromAddress()); // the path that is shown

function fromAddress() { return new URLSearchParams(location.hash.slice(1)).get("path") || "/"; }

globalThis.addEventListener("hashchange", () => {
  const path = new URLSearchParams(location.hash.slice(1)).get("path");
  if (path) choose(path);
});

function choose(path) {
  chosen.value = path;
  const above = new Set(opened.value);
  for (let at = path; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) if (at !== path) above.add(at);
  above.add("/");
  opened.value = above;
  if (location.hash.includes("panel=tree") || location.hash === "")
    history.replaceState(null, "", `#${new URLSearchParams({ panel: "tree", path })}`);
}

function join(path, name) { return path === "/" ? `/${name}` : `${path}/${name}`; }

function View({ world }) {
  return html`<div class="tree-panel">
    <section class="card tree-list" aria-label=${t("tree.files")}>
      <${GoTo} /><ul role="tree" aria-label=${t("tree.files")} onKeyDown=${arrows}><${Directory} world=${world} path="/" depth=${0} /></ul>
    </section>
    <section class="card tree-file" aria-live="off" aria-label=${t("tree.file")}><${Shown} key=${chosen.value} world=${world} path=${chosen.value} /></section>
  </div>`;
}

function GoTo() {
  const go = (event) => { event.preventDefault(); const path = "/" + event.target.elements.path.value.split("/").filter(Boolean).join("/"); choose(path); };
  return html`<form class="goto" onSubmit=${go}><label class="hidden" for="tree-path">${t("tree.path")}</label>
    <input id="tree-path" name="path" class="mono" key=${chosen.value} defaultValue=${chosen.value} spellcheck=${false} autocomplete="off" /><button type="submit">${t("tree.go")}</button></form>`;
}

// Arrow keys as in any tree: up and down among the rows that are drawn, right opens, left closes.
function arrows(event) {
  const rows = [...event.currentTarget.querySelectorAll("[data-row]")], at = rows.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && rows[at + step]) { rows[at + step].focus(); event.preventDefault(); }
  const item = rows[at]?.closest("[role=treeitem]");
  const open = item?.getAttribute("aria-expanded");
  if ((event.key === "ArrowRight" && open === "false") || (event.key === "ArrowLeft" && open === "true")) { toggle(rows[at].dataset.row); event.preventDefault(); }
}

// On a narrow screen the file is below the tree.
function toFile() {
  const file = document.querySelector(".tree-file");
  if (file && matchMedia(NARROW).matches) file.scrollIntoView({ block: "start" });
}

function toggle(path) {
  const next = new Set(opened.value);
  if (!next.delete(path)) next.add(path);
  opened.value = next;
}

function Directory({ world, path, depth }) {
  const limit = useSignal(PAGE);
  const { value, error, loading } = liveList(world, path).value;
  if (error && !value) return html`<li class="error"><bdi>${error.message}</bdi></li>`;
  if (loading) return html`<li class="dim">${t("error.loading")}</li>`;
  const entries = sorted(value);
  return html`${entries.slice(0, limit.value).map((entry) => html`<${Row} key=${entry.name} world=${world} entry=${entry} path=${join(path, entry.name)} depth=${depth} />`)}
    ${entries.length > limit.value && html`<li><button type="button" class="quiet" onClick=${() => { limit.value += PAGE * 5; }}>${t("tree.more", { n: entries.length - limit.value })}</button></li>`}
    ${entries.length === 0 && html`<li class="dim">${t("tree.empty")}</li>`}`;
}

function sorted(entries) {
  return [...(Array.isArray(entries) ? entries : [])].sort((one, other) => (one.kind === other.kind ? 0 : one.kind === "dir" ? -1 : 1));
}

function Row({ world, entry, path, depth }) {
  const dir = entry.kind === "dir", open = dir && opened.value.has(path);
  const press = () => { if (dir) toggle(path); choose(path); if (!dir) toFile(); };
  return html`<li role="treeitem" aria-expanded=${dir ? String(open) : undefined} aria-selected=${String(chosen.value === path)}>
    <button type="button" class=${`row ${chosen.value === path ? "chosen" : ""}`} data-row=${path} onClick=${press} style=${{ paddingLeft: `${8 + depth * 14}px` }}>
      <i aria-hidden="true">${dir ? (open ? "▾" : "▸") : "·"}</i><span><bdi>${visibleText(entry.name)}</bdi>${dir ? "/" : ""}</span>
      ${entry.writable && html`<span class="mark" title=${t("tree.writable")}>✎<span class="hidden">${t("tree.writable")}</span></span>`}
    </button>${open && html`<ul role="group"><${Directory} world=${world} path=${path} depth=${depth + 1} /></ul>`}</li>`;
}

// -- one path

function Shown({ world, path }) {
  const entry = useSignal(null), error = useSignal(null);
  useEffect(() => {
    const look = () => world.stat(path).then((found) => { entry.value = found; error.value = null; }, (wrong) => { if (wrong.code !== "connection_lost") error.value = wrong; });
    look();
    return world.at.subscribe(look);
  }, [path]);
  return html`<h2 class="mono path"><bdi>${visibleText(path)}</bdi></h2>
    ${error.value && html`<p class="error" role="alert"><bdi>${error.value.message}</bdi></p>`}
    ${entry.value && (entry.value.kind === "dir" ? html`<${DirectoryPage} world=${world} path=${path} />` : html`<${FilePage} world=${world} path=${path} entry=${entry.value} />`)}`;
}

function DirectoryPage({ world, path }) {
  const base = path === "/" ? "" : path;
  return html`<${Beside} world=${world} path=${`${base}/README.md`} title=${t("tree.readme")} />
    <${Entries} world=${world} path=${path} />
    <${Beside} world=${world} path=${`${base}/SCHEMA.json`} title=${t("tree.schema")} />
    <${Beside} world=${world} path=${`${base}/last_error`} title=${t("tree.last_error")} />`;
}

function Entries({ world, path }) {
  const { value } = liveList(world, path).value;
  if (!Array.isArray(value) || value.length === 0) return null;
  return html`<table class="entries" aria-label=${t("tree.entries", { path })}><thead><tr><th>${t("tree.name")}</th><th>${t("tree.size")}</th><th>${t("tree.changed")}</th></tr></thead><tbody>
    ${sorted(value).slice(0, PAGE).map((entry) => html`<tr key=${entry.name}>
      <td><button type="button" class="link" onClick=${() => choose(join(path, entry.name))}><bdi>${visibleText(entry.name)}</bdi>${entry.kind === "dir" ? "/" : ""}</button></td>
      <td>${entry.kind === "dir" || waits(world, join(path, entry.name)) ? "" : bytesText(entry.size)}</td><td>${entry.mtime_ms ? dateText(entry.mtime_ms) : ""}</td></tr>`)}
  </tbody></table>${value.length > PAGE && html`<p class="dim">${t("tree.more", { n: value.length - PAGE })}</p>`}`;
}

// A file that may be there. Markdown is rendered: it is read, not edited, here.
function Beside({ world, path, title }) {
  const { value, error } = liveText(world, path).value;
  if (error || !value) return null;
  const md = path.endsWith(".md");
  return html`<details class="beside" open=${md}><summary>${title}</summary>${md ? markdown(value, BESIDE) : html`<pre class="content"><bdi>${visibleText(value.slice(0, BESIDE))}</bdi></pre>`}</details>`;
}

const waits = (world, path) => Boolean(rowOf(world, path)?.blocking);

function FilePage({ world, path, entry }) {
  const above = path.slice(0, path.lastIndexOf("/"));
  const now = world.at.value === null, may = entry.writable && now, row = rowOf(world, path), order = row?.kind === "control";
  return html`<p class="rights"><span class=${may ? "good" : "dim"}>${now ? t(may ? "tree.may" : "tree.may_not") : t("tree.past")}</span>
      ${now && !may && html` <bdi>${entry.why?.[language.value] || t("tree.no_reason")}</bdi>`}</p>
    <${About} row=${row} entry=${entry} />
    ${order ? null : waits(world, path) && now ? html`<${Watched} world=${world} path=${path} />` : html`<${Content} world=${world} path=${path} />`}
    ${may && html`<${Editor} world=${world} path=${path} stored=${Boolean(entry.revision)} order=${order} />`}
    ${above && html`<${Beside} world=${world} path=${`${above}/last_error`} title=${t("tree.last_error")} />`}
    ${!path.endsWith("/README.md") && html`<${Beside} world=${world} path=${`${above}/README.md`} title=${t("tree.readme")} />`}`;
}

// What the table of files says of it.
function About({ row, entry }) {
  const names = Object.entries(row?.writers || {}).map(([role, when]) => (when ? `${role} (${when})` : role)).join(", ");
  return html`<p class="about dim">${row && html`<bdi>${row.about}</bdi> · ${t(`kind.${row.kind}`)} · ${names ? t("tree.writers", { names }) : t("tree.nobody")} · `}
    ${row?.blocking || row?.kind === "control" ? "" : bytesText(entry.size)}${entry.revision ? html` · <code>${entry.revision}</code>` : ""}
    ${entry.mtime_ms ? ` · ${dateText(entry.mtime_ms)}` : ""}</p>`;
}

// A file whose read waits is read only when a person asks, and then again each time it has something.
function Watched({ world, path }) {
  const on = useSignal(false), found = useSignal(null), error = useSignal(null);
  useEffect(() => {
    if (!on.value) return undefined;
    const end = new AbortController();
    (async () => {
      try { for await (const data of world.waits(path, { signal: end.signal })) found.value = data; }
      catch (wrong) { if (!end.signal.aborted) error.value = wrong; }
    })();
    return () => end.abort();
  }, [path, on.value]);
  if (path === OWN) return html`<p>${t("tree.own")}</p>`;
  if (!on.value) return html`<p>${t("tree.blocks")} <button type="button" onClick=${() => { on.value = true; }}>${t("tree.watch")}</button></p>`;
  return html`<${Bytes} path=${path} value=${found.value} error=${error.value} loading=${false} /><p class="dim" role="status">${t("tree.watching")}</p>`;
}

function Content({ world, path }) {
  const { value, error, loading } = liveBytes(world, path).value;
  return html`<${Bytes} path=${path} value=${value} error=${error} loading=${loading} />`;
}

function Bytes({ path, value, error, loading }) {
  const shown = useMemo(() => value instanceof Uint8Array ? contentOf(path, value) : null, [path, value]);
  useEffect(() => () => { if (shown?.url) URL.revokeObjectURL(shown.url); }, [shown]);
  return html`${error && html`<p class="error" role="alert"><bdi>${error.message}</bdi></p>`}
    ${loading && html`<p class="dim">${t("error.loading")}</p>`}
    ${shown?.wrong && html`<p class="warn-text">${t(shown.wrong)}</p>`}
    ${shown?.url ? html`<img class="picture" src=${shown.url} alt=${t("tree.picture", { path })} />`
      : shown && html`<pre class="content" tabindex="0" aria-label=${t("tree.content")}><bdi>${shown.text}</bdi></pre>`}
    ${shown?.cut > 0 && html`<p class="dim">${t("tree.cut", { size: bytesText(shown.cut) })}</p>`}`;
}

export const panel = { id: "tree", title: "tree.title", View };

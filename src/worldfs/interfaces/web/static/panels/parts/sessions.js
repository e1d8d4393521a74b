// SESSIONS.md, and the trace of a session as plots.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { liveList, liveText } from "../../live_file.js";
import { markdown } from "../../markdown.js";
import { t } from "../../texts.js";
import { Card, FileLink, notYet } from "./card.js";
import { Plot } from "./plot.js";
import { Said } from "./plain_text.js";

const MOST = 2000; // steps of a plot
const SERIES = 5; // numbers of one plot

export function Sessions({ world, project }) {
  const path = `/projects/${project}/SESSIONS.md`, file = liveText(world, path).value;
  if (file.error || !file.value?.trim()) return null; // a world without sessions has no card of them
  return html`<${Card} id="sessions" title=${t("sessions.title")} path=${path}>
    <div class="bounded" tabindex="0" role="region" aria-label=${t("sessions.title")}>${markdown(file.value)}</div>
    <${Traces} world=${world} folder=${`/projects/${project}/artifacts`} text=${file.value} />
  <//>`;
}

function Traces({ world, folder, text }) {
  const [open, show] = useState("");
  const found = [...new Set([...text.matchAll(/trace_path['"]?\s*:\s*['"]?([^\s'",}]{1,300}trace\.jsonl)/g)].map((match) => match[1]))].slice(-30).reverse();
  if (!found.length) return null;
  return html`<h3>${t("sessions.traces")}</h3><p class="chips">${found.map((path) => html`<button type="button" aria-pressed=${String(open === path)} onClick=${() => show(open === path ? "" : path)}><bdi>${path.split("/").at(-2)}</bdi></button>`)}</p>
    ${open && html`<${Trace} key=${open} world=${world} path=${`${folder}/${open.replace(/^artifacts\//, "")}`} />`}`;
}

function Trace({ world, path }) {
  const file = liveText(world, path).value;
  const wait = notYet(file);
  if (wait) return wait;
  const plots = traceSeries(file.value);
  return html`<p><${FileLink} path=${path} /></p>
    ${plots.length ? plots.map(({ label, x, lines }) => html`<${Plot} key=${label} label=${label} x=${x} lines=${lines} />`) : html`<p class="dim">${t("sessions.no_numbers")}</p>`}`;
}

// The numbers of a trace by name: a list of numbers is one plot, single numbers share one.
export function traceSeries(text) {
  const rows = text.split("\n").slice(0, MOST).flatMap((line) => { try { return [flat(JSON.parse(line))]; } catch { return []; } });
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, 60);
  const groups = new Map();
  for (const name of names) {
    const group = name.includes("[") ? name.slice(0, name.indexOf("[")) : name;
    groups.set(group, [...(groups.get(group) || []), name]);
  }
  const x = rows.map((_, at) => at);
  return [...groups].slice(0, 12).map(([label, keys]) => ({ label, x, lines: keys.slice(0, SERIES).map((key) => ({ label: key, values: rows.map((row) => row[key] ?? null) })) }));
}

function flat(value, name = "", found = {}) {
  if (typeof value === "number") found[name] = value;
  else if (Array.isArray(value)) value.slice(0, SERIES).forEach((one, at) => flat(one, `${name}[${at}]`, found));
  else if (value && typeof value === "object") for (const [key, one] of Object.entries(value).slice(0, 40)) flat(one, name ? `${name}.${key}` : key, found);
  return found;
}

// The journal of an agent as a timeline, and its figures as plots.
import { html } from "htm/preact";
import { useMemo } from "preact/hooks";
import { liveJson, liveText } from "../../live_file.js";
import { t } from "../../texts.js";
import { Card, notYet } from "./card.js";
import { Pages } from "./pages.js";
import { Plot } from "./plot.js";
import { LongText, Said, when } from "./plain_text.js";

const MOST = 5000; // entries of a timeline, the newest

export function entries(text) {
  return text.split("\n").slice(-MOST - 1).flatMap((line) => { try { const found = JSON.parse(line); return found && typeof found === "object" ? [found] : []; } catch { return []; } });
}

const stampOf = (entry) => entry.at || entry.ts || entry.timestamp || entry.time || "";

export function Journal({ world, folder }) {
  const path = `${folder}/journal.jsonl`, file = liveText(world, path).value, wait = notYet(file);
  const found = useMemo(() => entries(file.value || "").reverse(), [file.value]);
  return html`<${Card} id="journal" title=${t("journal.title")} path=${path}>
    ${wait || (found.length ? html`<${Pages} items=${found} label=${t("journal.title")} row=${(entry, at) => html`<${Event} key=${entry.seq ?? at} entry=${entry} />`} />` : html`<p class="dim">${t("journal.empty")}</p>`)}
  <//>`;
}

function Event({ entry }) {
  const { seq, event, at, ts, timestamp, time, ...more } = entry;
  const text = more.message || more.summary || more.subject || more.description || more.text || "";
  return html`<li class="event"><time>${when(stampOf(entry))}</time><div><strong><${Said} text=${event || t("journal.entry")} /></strong> <${Said} text=${typeof text === "string" ? text : JSON.stringify(text)} />
    ${Object.keys(more).length > 0 && html`<details><summary>${t("journal.more")}</summary><${LongText} text=${JSON.stringify(more, null, 1)} limit=${1000} /></details>`}</div></li>`;
}

export function Metrics({ world, folder }) {
  const path = `${folder}/metrics.json`, file = liveJson(world, path).value, wait = notYet(file);
  const text = liveText(world, `${folder}/journal.jsonl`).value.value || "";
  const ends = useMemo(() => entries(text).filter((entry) => entry.event === "session_end" && stampOf(entry)), [text]);
  const x = ends.map((entry) => Date.parse(stampOf(entry)) / 1000);
  const series = (name, of) => ({ label: t(name), values: ends.map(of) });
  const sessions = ends.map((_, at) => at + 1);
  const tokens = (entry) => entry.tokens_used ?? entry.session?.tokens_used ?? null, cost = (entry) => entry.cost_usd ?? entry.session?.cost_usd ?? null;
  return html`<${Card} id="metrics" title=${t("metrics.title")} path=${path}>
    ${wait || html`${["lifetime", "rolling_30d"].map((part) => file.value?.[part] && html`<h3>${t(`metrics.${part}`)}</h3>
      <dl class="facts">${Object.entries(file.value[part]).filter(([, value]) => value).map(([name, value]) => html`<div><dt><${Said} text=${name.replaceAll("_", " ")} /></dt><dd><${Said} text=${value} /></dd></div>`)}</dl>`)}
      ${x.length > 1 && html`<${Plot} label=${t("metrics.sessions")} x=${x} time=${true} lines=${[{ label: t("metrics.sessions"), values: sessions }]} />`}
      ${ends.some((entry) => tokens(entry) !== null) && html`<${Plot} label=${t("metrics.tokens")} x=${x} time=${true} bars=${true} lines=${[series("metrics.tokens", tokens)]} />`}
      ${ends.some((entry) => cost(entry) !== null) && html`<${Plot} label=${t("metrics.cost")} x=${x} time=${true} bars=${true} lines=${[series("metrics.cost", cost)]} />`}`}
  <//>`;
}

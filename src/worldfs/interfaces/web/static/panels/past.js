// The past: when the files were changed, what a change was, and a link to any moment.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { asNow } from "../connection.js";
import { t } from "../texts.js";
import { linkTo } from "../past/moment_link.js";
import { Strip, goTo, momentsOf, placeNow, when } from "../past/past_strip.js";
import { diffLines } from "../past/text_diff.js";

export const texts = {
  en: {
    "past.title": "Past", "past.now": "now", "past.earlier": "Earlier change", "past.later": "Later change", "past.scrub": "Moment",
    "past.how": "Each dot is a change of a file. Move the slider, or press ← and →, and every panel shows the files as they were then.",
    "past.kept": "Kept are documents and sheets: ENVIRONMENT.md, TASK.md, LESSONS.md, ACTION.md, skills, and the files of agents. Not kept are computed files, artifacts, and jobs, journals and messages, which carry their own times. A store on NATS keeps no versions. Rights are today's: what you may not see now you do not see in the past.",
    "past.none": "No versions are kept here.", "past.why": "No versions can be listed: {why}", "past.cut": "Only the first {n} files are shown.",
    "past.jump": "Go to a time", "past.go": "Go", "past.link": "Link to this moment", "past.copy": "Copy", "past.copied": "Copied",
    "past.changed": "Changed at {time}", "past.bytes": "{n} bytes", "past.first": "first version", "past.gone": "removed", "past.long": "too long to compare: as it was then", "past.pick": "Choose a moment to see what changed.",
    "past.dots": "Changes of {path}: {n}", "past.banner": "This is the past: {time}", "past.leave": "Back to now",
    "past.bad": "“{text}” is no time. An example: 2026-11-23T06:00:00Z",
  },
  zh: {
    "past.title": "过去", "past.now": "现在", "past.earlier": "较早的更改", "past.later": "较晚的更改", "past.scrub": "时刻",
    "past.how": "每个点是一次文件更改。移动滑块，或按 ← 和 →，所有面板都会显示当时的文件。",
    "past.kept": "保留的是文档和单据：ENVIRONMENT.md、TASK.md、LESSONS.md、ACTION.md、技能以及智能体的文件。不保留的是计算得出的文件、产物，以及自带时间的任务、日志和消息。NATS 上的存储不保留版本。权限以今天为准：现在不可见的，过去也不可见。",
    "past.none": "这里没有保留版本。", "past.why": "无法列出版本：{why}", "past.cut": "只显示前 {n} 个文件。",
    "past.jump": "跳到某一时间", "past.go": "跳转", "past.link": "此时刻的链接", "past.copy": "复制", "past.copied": "已复制",
    "past.changed": "{time} 的更改", "past.bytes": "{n} 字节", "past.first": "第一个版本", "past.gone": "已删除", "past.long": "太长，无法比较：显示当时的内容", "past.pick": "选择一个时刻以查看更改。",
    "past.dots": "{path} 的更改：{n}", "past.banner": "这是过去：{time}", "past.leave": "回到现在",
    "past.bad": "“{text}”不是时间。例如：2026-11-23T06:00:00Z",
  },
};

function View({ world }) {
  const line = momentsOf(world).value;
  const { moments, files, error, cut, loading } = line;
  const place = placeNow(world, moments);
  const moment = moments[Math.min(place, moments.length - 1)];
  const keys = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.target.closest("input, textarea, select, [role=tablist]")) return;
    event.preventDefault();
    goTo(world, moments, Math.min(moments.length, Math.max(0, place + step)));
  };
  return html`<div class="past-panel" onKeyDown=${keys}>
    <section class="card">
      <p class="dim">${t("past.how")}</p>
      <${Strip} world=${world} />
      ${loading ? html`<p class="empty">${t("error.loading")}</p>` : moments.length
        ? html`<${Lanes} world=${world} moments=${moments} files=${files} place=${place} />`
        : html`<p class="empty"><bdi>${error ? t("past.why", { why: error.message }) : t("past.none")}</bdi></p>`}
      ${cut && html`<p class="dim">${t("past.cut", { n: files.length })}</p>`}
      <div class="past-tools"><${Jump} world=${world} /><${Share} world=${world} /></div>
      <p class="dim small">${t("past.kept")}</p>
    </section>
    ${moment && html`<section class="card"><h2>${t("past.changed", { time: when(moment.time) })}</h2>
      ${moment.changes.map((change) => html`<${Change} key=${change.path + change.time} world=${world} change=${change} moments=${moments} />`)}</section>`}
  </div>`;
}

// One row for each file, one dot for each change; a click goes there.
function Lanes({ world, moments, files, place }) {
  const first = moments[0].ms, span = Math.max(1, moments.at(-1).ms - first);
  // Even steps and true times both mislead alone: half of each keeps bursts apart and pauses visible.
  const x = (n) => 1 + 98 * (moments.length < 2 ? 0.5 : (n / (moments.length - 1) + (moments[n].ms - first) / span) / 2);
  const at = new Map();
  moments.forEach((moment, n) => moment.changes.forEach(({ path }) => at.set(path, [...at.get(path) || [], n])));
  return html`<div class="lanes">${files.map((path) => html`<div class="lane" key=${path}>
    <span class="lane-name mono" title=${path}><bdi>${path.split("/").slice(-2).join("/")}</bdi></span>
    <svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${t("past.dots", { path, n: at.get(path).length })}>
      <line x1="0" x2="100" y1="5" y2="5" class="lane-line" />
      ${place < moments.length && html`<line x1=${x(place)} x2=${x(place)} y1="0" y2="10" class="lane-here" />`}
      ${at.get(path).map((n) => html`<rect key=${n} x=${x(n) - 0.45} width="0.9" y="1.5" height="7" class=${n === place ? "dot here" : n < place ? "dot" : "dot after"} onClick=${() => goTo(world, moments, n)}><title>${when(moments[n].time)}</title></rect>`)}
    </svg></div>`)}</div>`;
}

function Jump({ world }) {
  const [wrong, setWrong] = useState("");
  const field = useRef(null);
  const go = (event) => {
    event.preventDefault();
    const text = field.current.value.trim(), at = new Date(text);
    if (!text || Number.isNaN(at.getTime())) { setWrong(text); return; }
    setWrong("");
    world.at.value = at.toISOString();
  };
  return html`<form onSubmit=${go}><label>${t("past.jump")} <input ref=${field} placeholder="2026-11-23T06:00:00Z" size="24" /></label>
    <button type="submit">${t("past.go")}</button>
    ${wrong && html`<p class="error" role="alert"><bdi>${t("past.bad", { text: wrong })}</bdi></p>`}</form>`;
}

function Share({ world }) {
  const [copied, setCopied] = useState(false);
  const field = useRef(null);
  const link = linkTo("world", world.at.value);
  useEffect(() => setCopied(false), [link]);
  if (world.at.value === null) return null;
  const copy = async () => {
    field.current.select();
    try { await navigator.clipboard.writeText(link); setCopied(true); } catch { /* no clipboard without TLS: it is selected */ }
  };
  return html`<div><label>${t("past.link")} <input ref=${field} class="mono" readonly value=${link} size="40" /></label>
    <button type="button" onClick=${copy}>${copied ? t("past.copied") : t("past.copy")}</button></div>`;
}

// What one file said from then on, against what it said before.
function Change({ world, change, moments }) {
  const [shown, setShown] = useState(null);
  const earlier = moments.flatMap((moment) => moment.changes).filter(({ path, time }) => path === change.path && time < change.time).at(-1);
  useEffect(() => {
    let over = false;
    const read = (one) => one ? world.readText(asNow(`/versions${one.path}/${one.time}`)) : Promise.resolve(null);
    Promise.all([read(earlier), read(change)]).then(
      ([before, after]) => { if (!over) setShown({ before, after }); },
      (error) => { if (!over) setShown({ error }); });
    return () => { over = true; };
  }, [world, change.path, change.time]);
  return html`<details open class="change"><summary><code><bdi>${change.path}</bdi></code> <span class="dim">${t("past.bytes", { n: change.size ?? "?" })}</span></summary>
    ${shown && html`<${Difference} ...${shown} />`}</details>`;
}

function Difference({ before, after, error }) {
  if (error) return html`<p class="error"><bdi>${error.message}</bdi></p>`;
  if (before === null) return html`<p class="dim">${t("past.first")}</p><pre class="diff">${after}</pre>`;
  const lines = diffLines(before, after);
  if (!lines) return html`<p class="dim">${t("past.long")}</p><pre class="diff">${after}</pre>`;
  const near = new Set();
  lines.forEach(([sign], n) => { if (sign !== "=") for (let k = n - 2; k <= n + 2; k++) near.add(k); });
  return html`<pre class="diff">${lines.map(([sign, line], n) => near.has(n)
    ? html`<span class=${{ "+": "added", "-": "gone", "=": "same" }[sign]}>${sign === "=" ? " " : sign} ${line}${"\n"}</span>` : null)}</pre>`;
}

export const panel = { id: "past", title: "past.title", View };

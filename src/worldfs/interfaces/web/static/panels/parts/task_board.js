// TASK.md as a board: each step with its state and what it waits for; lessons below as they stand.
import { html } from "htm/preact";
import { liveText } from "../../live_file.js";
import { markdown, tables } from "../../markdown.js";
import { t } from "../../texts.js";
import { Card, notYet } from "./card.js";
import { Said } from "./plain_text.js";

const MOST = 300;
const STATES = [["✅", "done"], ["⏳", "running"], ["⬜", "pending"], ["❌", "failed"], ["⏭", "skipped"]];
const MARK = { done: "✓", running: "▶", pending: "○", failed: "✗", skipped: "–" };

export function TaskBoard({ world, project }) {
  const path = `/projects/${project}/TASK.md`;
  return html`<${Card} id="task" title=${t("task.title")} path=${path}><${Board} file=${liveText(world, path).value} /><//>`;
}

function Board({ file }) {
  const wait = notYet(file, t("task.none"));
  if (wait) return wait;
  const text = file.value.slice(0, 200000), found = steps(text);
  if (!found.length) return text.trim() ? markdown(text) : html`<p class="dim">${t("task.none")}</p>`;
  const over = found.filter((step) => step.state === "done").length;
  const goal = /^#+\s*(.*)$/m.exec(text)?.[1];
  return html`${goal && html`<p><strong><${Said} text=${goal} /></strong></p>`}
    <progress max=${found.length} value=${over} aria-label=${t("task.progress", { done: over, n: found.length })}></progress>
    <p class="dim">${t("task.progress", { done: over, n: found.length })}</p>
    <ol class="board">${found.slice(0, MOST).map((step) => html`<li class=${`step step-${step.state}`} data-state=${step.state}>
      <span class="mark" aria-hidden="true">${MARK[step.state]}</span> <span class="hidden">${t(`task.${step.state}`)}</span>
      <span class="grow"><${Said} text=${step.action} /> ${step.target && html`<span class="dim"><${Said} text=${step.target} /></span>`}
      ${step.after && html`<span class="dim after">${t("task.after")} <${Said} text=${step.after} /></span>`}
      ${step.result && html`<span class="result"><${Said} text=${step.result} /></span>`}</span></li>`)}</ol>`;
}

export function steps(text) {
  const table = tables(text).find(({ head }) => head.length >= 4);
  if (!table) return [];
  const column = (...words) => table.head.findIndex((name) => words.some((word) => name.toLowerCase().includes(word)));
  const at = { action: column("action", "动作", "description"), target: column("target", "目标"), state: column("status", "状态"), after: column("depend", "依赖"), result: column("result", "结果", "备注", "note") };
  return table.rows.map((row) => {
    const cell = (name) => at[name] < 0 ? "" : (row[at[name]] || "").replace(/^[—–-]$/, "");
    return { action: cell("action"), target: cell("target"), after: cell("after"), result: cell("result"), state: stateOf(cell("state")) };
  });
}

function stateOf(cell) {
  const said = cell.toLowerCase();
  return STATES.find(([mark, state]) => said.includes(mark) || said.includes(state))?.[1] || "pending";
}

export function Lessons({ world, project }) {
  const path = `/projects/${project}/LESSONS.md`;
  return html`<${Card} id="lessons" title=${t("lessons.title")} path=${path}><${LessonText} file=${liveText(world, path).value} /><//>`;
}

// A file of megabytes is shown from its newest end.
const SHOWN = 20000;
const DATE = /\d{4}-\d\d-\d\d(?:[ T][\d:.]+)?/;

// The parts of LESSONS.md, the newest first. Its own dates say which way round it is written; without any, newest last.
function newestFirst(text) {
  const parts = text.split(/^(?=## )/m).filter((part) => part.trim() && !/^# [^\n]*$/.test(part.trimEnd()));
  const dates = parts.map((part) => DATE.exec(part.split("\n", 1)[0])?.[0].replace("T", " ")).filter(Boolean);
  return dates.length && dates[0] >= dates.at(-1) ? parts : parts.reverse();
}

function LessonText({ file }) {
  const wait = notYet(file, t("lessons.none"));
  if (wait) return wait;
  const text = file.value;
  if (!/\n\S/.test(text.trim())) return html`<p class="dim">${t("lessons.none")}</p>`;
  return html`${text.length > SHOWN && html`<p class="dim">${t("lessons.end", { shown: SHOWN, n: text.length })}</p>`}<div class="bounded" tabindex="0" role="region" aria-label=${t("lessons.title")}>${markdown(newestFirst(text).join("").slice(0, SHOWN))}</div>`;
}

// The lessons of LESSONS.md, each as one line, for the queue.
export function lessonLines(text = "") {
  const plain = (line) => line.replace(/^[#*\s-]+/, "").replaceAll("**", "").trim();
  return newestFirst(text).slice(0, 500).map((lesson) => lesson.split("\n").map(plain).filter(Boolean).join(" · "));
}

// What an agent's files say: its report and session, its tasks, what it knows.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { liveJson, liveText } from "../../live_file.js";
import { markdown } from "../../markdown.js";
import { t } from "../../texts.js";
import { Card, notYet } from "./card.js";
import { Pages } from "./pages.js";
import { Said, when } from "./plain_text.js";

export function Report({ world, folder }) {
  const file = liveJson(world, `${folder}/report.json`).value, wait = notYet(file);
  const session = liveJson(world, `${folder}/session.json`).value.value || {};
  const report = file.value || {}, runs = session.status === "running" || session.status === "in_progress";
  return html`<${Card} id="report" title=${t("agent.report")} path=${`${folder}/report.json`}>
    ${wait || html`<p><strong><${Said} text=${report.status} /></strong> <span class="dim">${when(report.updated_at)}</span></p>
    <p><${Said} text=${report.summary} limit=${4000} /></p>
    <${Facts} facts=${[["current", report.current_task], ["blocked", report.blocked_by], ["next", report.next_priority]]} />`}
    <h3>${t("agent.session")}</h3>
    ${session.session_id ? html`<p class=${runs ? "accent" : session.status === "error" ? "bad" : ""}>${runs ? "▶" : "■"} <${Said} text=${session.status} /> <span class="dim"><${Said} text=${session.type} /> · ${when(session.started_at)}</span></p>
      <${Facts} facts=${[["model", session.model], ["tokens", session.tokens_used], ["cost", session.cost_usd], ["notes", session.handoff_notes]]} />` : html`<p class="dim">${t("agent.no_session")}</p>`}
  <//>`;
}

function Facts({ facts }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return known.length > 0 && html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${t(`agent.${name}`)}</dt><dd><${Said} text=${typeof value === "object" ? JSON.stringify(value) : value} /></dd></div>`)}</dl>`;
}

const MARK = { completed: "✓", in_progress: "▶", pending: "○", dropped: "–", blocked: "✗" };
const OVER = ["completed", "dropped"];

export function AgentTasks({ world, folder }) {
  const file = liveJson(world, `${folder}/tasks.json`).value, wait = notYet(file);
  const tasks = [...(file.value?.tasks || [])].sort((one, other) => OVER.includes(one.status) - OVER.includes(other.status));
  return html`<${Card} id="tasks" title=${t("agent.tasks")} path=${`${folder}/tasks.json`}>
    ${wait || (tasks.length ? html`<${Pages} items=${tasks} label=${t("agent.tasks")} size=${10} row=${(task) => html`<li key=${task.id}><span aria-hidden="true">${MARK[task.status] || "·"}</span> <${Said} text=${task.description} />
      <span class="dim"><${Said} text=${[task.status, task.priority, task.type].filter(Boolean).join(" · ")} /></span>${task.outcome && html` <${Said} text=${task.outcome} />`}</li>`} />` : html`<p class="dim">${t("agent.no_tasks")}</p>`)}
  <//>`;
}

export function Memory({ world, folder }) {
  const file = liveText(world, `${folder}/memory.md`).value, wait = notYet(file);
  const [words, search] = useState("");
  const found = wait || !words.trim() ? file.value || "" : matching(file.value, words);
  return html`<${Card} id="memory" title=${t("agent.memory")} path=${`${folder}/memory.md`}>
    ${wait || html`<label class="field"><span class="hidden">${t("agent.search")}</span><input type="search" placeholder=${t("agent.search")} value=${words} onInput=${(event) => search(event.target.value)} /></label>
    <div class="bounded" tabindex="0" role="region" aria-label=${t("agent.memory")}>${found.trim() ? markdown(found) : html`<p class="dim">${t("agent.nothing_found")}</p>`}</div>`}
  <//>`;
}

// The lines with all the words, below their headings.
export function matching(text, words) {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean), kept = [];
  let heading = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) heading = line;
    else if (line.trim() && all.every((word) => line.toLowerCase().includes(word))) { if (heading) kept.push(heading); heading = ""; kept.push(line); }
  }
  return kept.join("\n");
}

// Agents: who there is, what each is at and knows, its messages, figures and journal; the chat with one's own.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { liveList } from "../live_file.js";
import { t } from "../texts.js";
import { AgentTasks, Memory, Report } from "./parts/agent_files.js";
import { texts } from "./parts/agent_texts.js";
import { Card, notYet } from "./parts/card.js";
import { Chat } from "./parts/chat.js";
import { Inbox } from "./parts/inbox.js";
import { Journal, Metrics } from "./parts/journal.js";
import { Said } from "./parts/plain_text.js";
import { partSheet } from "./parts/sheet.js";

export { texts };

function View({ world }) {
  partSheet();
  const [chosen, choose] = useState("");
  const file = liveList(world, "/agents").value, wait = notYet(file);
  if (wait) return wait;
  const names = (file.value || []).filter((entry) => entry.kind === "dir").map((entry) => entry.name).filter((name) => name !== "self");
  const agent = names.includes(chosen) ? chosen : names.find((name) => name !== world.may.value.agent) || names[0] || "";
  return html`<div class="agents-list" role="group" aria-label=${t("agents.title")}>${names.slice(0, 300).map((name) => html`<button key=${name} type="button" aria-pressed=${String(name === agent)} onClick=${() => choose(name)}><${Said} text=${name} /></button>`)}</div>
    <div class="parts"><${Chat} world=${world} /><${Agent} key=${agent} world=${world} agent=${agent} /></div>`;
}

// An agent without a state of its own (the one that only chats) has no files to show.
function Agent({ world, agent }) {
  const folder = `/agents/${agent}`, file = liveList(world, folder).value;
  const has = (name) => (file.value || []).some((entry) => entry.name === name);
  if (!agent || file.loading) return null;
  if (!has("report.json") && !has("inbox")) return html`<${Card} id="agent" title=${agent} path=${folder}><p class="dim">${t("agent.no_files")}</p><//>`;
  return html`<div class="column">
      ${has("report.json") && html`<${Report} world=${world} folder=${folder} />`}
      ${has("tasks.json") && html`<${AgentTasks} world=${world} folder=${folder} />`}
      ${has("inbox") && html`<${Inbox} world=${world} folder=${folder} agent=${agent} />`}
    </div><div class="column">
      ${has("memory.md") && html`<${Memory} world=${world} folder=${folder} />`}
      ${has("metrics.json") && html`<${Metrics} world=${world} folder=${folder} />`}
      ${has("journal.jsonl") && html`<${Journal} world=${world} folder=${folder} />`}
    </div>`;
}

export const panel = { id: "agents", title: "agents.title", View };

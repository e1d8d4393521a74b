import { html } from "htm/preact";

export const texts = { en: { "agents.title": "Agents", "agents.empty": "Nothing here yet." }, zh: { "agents.title": "智能体", "agents.empty": "这里还没有内容。" } };

function View() { return html`<p class="empty"></p>`; }

export const panel = { id: "agents", title: "agents.title", View };

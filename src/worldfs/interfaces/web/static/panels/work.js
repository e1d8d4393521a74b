import { html } from "htm/preact";

export const texts = { en: { "work.title": "Work", "work.empty": "Nothing here yet." }, zh: { "work.title": "任务", "work.empty": "这里还没有内容。" } };

function View() { return html`<p class="empty"></p>`; }

export const panel = { id: "work", title: "work.title", View };

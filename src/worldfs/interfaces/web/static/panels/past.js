import { html } from "htm/preact";

export const texts = { en: { "past.title": "Past", "past.empty": "Nothing here yet." }, zh: { "past.title": "过去", "past.empty": "这里还没有内容。" } };

function View() { return html`<p class="empty"></p>`; }

export const panel = { id: "past", title: "past.title", View };

import { html } from "htm/preact";

export const texts = { en: { "world.title": "World", "world.empty": "Nothing here yet." }, zh: { "world.title": "世界", "world.empty": "这里还没有内容。" } };

function View() { return html`<p class="empty"></p>`; }

export const panel = { id: "world", title: "world.title", View };

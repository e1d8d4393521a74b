// The tree: every file with its README, its rights and an editor.
import { html } from "htm/preact";

export const texts = { en: { "tree.title": "Tree" }, zh: { "tree.title": "目录树" } };

function View() { return html`<p class="empty"></p>`; }

export const panel = { id: "tree", title: "tree.title", View };

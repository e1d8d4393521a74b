// A long list, one page of it at a time: the cost does not grow with its length.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { t } from "../../texts.js";

export const SIZE = 20;

export function Pages({ items, label, size = SIZE, row }) {
  const [asked, show] = useState(0);
  const last = Math.max(0, Math.ceil(items.length / size) - 1), page = Math.min(asked, last);
  return html`<ol class="rows" aria-label=${label}>${items.slice(page * size, (page + 1) * size).map(row)}</ol>
    ${last > 0 && html`<nav class="pager" aria-label=${t("part.pages", { what: label })}>
      <button type="button" disabled=${page === 0} onClick=${() => show(page - 1)}>${t("part.newer")}</button>
      <span class="dim" role="status">${t("part.page", { page: page + 1, pages: last + 1, n: items.length })}</span>
      <button type="button" disabled=${page === last} onClick=${() => show(page + 1)}>${t("part.older")}</button></nav>`}`;
}

// Markdown as nodes: headings, lists, tables, code, emphasis. Everything else is text; nothing is ever parsed as HTML.
import { html } from "htm/preact";
import { LIMIT, visible } from "./panels/parts/plain_text.js";

const INLINE = /(`[^`]{1,500}`)|\*\*([^*\n]{1,500})\*\*|\*([^*\s][^*\n]{0,500})\*|\[([^[\]\n]{1,300})\]\(([^()\s]{1,1000})\)/;
const ADDRESS = /^https?:\/\//i;
const LINES = 4000;
const RULE = /^[\s:|-]+$/;

// The nodes of a Markdown text, at most `limit` characters of it.
export function markdown(text, limit = LIMIT) {
  const lines = visible(text.slice(0, limit)).split(/\r?\n/).slice(0, LINES);
  const nodes = [];
  for (let at = 0; at < lines.length;) {
    const block = fence(lines, at) || table(lines, at) || list(lines, at) || heading(lines, at) || paragraph(lines, at);
    if (block.node) nodes.push(block.node);
    at = block.end;
  }
  return html`<div class="markdown" dir="auto">${nodes}</div>`;
}

// The tables of a text as [{head: [cell], rows: [[cell]]}], for panels that show them in another way.
export function tables(text) {
  const lines = text.split(/\r?\n/).slice(0, LINES), found = [];
  for (let at = 0; at < lines.length; at += 1) {
    const block = table(lines, at);
    if (block) { found.push({ head: block.head, rows: block.rows }); at = block.end - 1; }
  }
  return found;
}

function fence(lines, at) {
  const mark = /^\s{0,3}(```+|~~~+)/.exec(lines[at])?.[1];
  if (!mark) return null;
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end += 1;
  return { node: html`<pre><code>${lines.slice(at + 1, end).join("\n")}</code></pre>`, end: end + 1 };
}

function table(lines, at) {
  const rule = lines[at + 1] || "", dash = rule.indexOf("-");
  if (!lines[at].includes("|") || dash < 0 || rule.lastIndexOf("|") < dash || !RULE.test(rule)) return null;
  const head = cells(lines[at]), rows = [];
  let end = at + 2;
  for (; end < lines.length && lines[end].includes("|"); end += 1) rows.push(cells(lines[end]));
  const node = html`<div class="scroll"><table><thead><tr>${head.map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
  return { node, end, head, rows };
}

function cells(line) { return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim()); }

function list(lines, at) {
  const item = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
  const first = item.exec(lines[at]);
  if (!first) return null;
  const items = [];
  let end = at;
  for (let found; end < lines.length && (found = item.exec(lines[end])); end += 1) items.push(found[2]);
  const nodes = items.map((text) => html`<li>${inline(text)}</li>`);
  return { node: first[1] ? html`<ol start=${first[1]}>${nodes}</ol>` : html`<ul>${nodes}</ul>`, end };
}

function heading(lines, at) {
  const found = /^(#{1,6})\s+(.*)$/.exec(lines[at].trimEnd());
  if (!found) return null;
  let end = found[2].length; // signs at the end close it
  while (end && found[2][end - 1] === "#") end -= 1;
  const level = Math.min(found[1].length + 2, 6); // the page's own headings stand above
  return { node: html`<${`h${level}`}>${inline(found[2].slice(0, end).trimEnd())}<//>`, end: at + 1 };
}

function paragraph(lines, at) {
  if (!lines[at].trim()) return { end: at + 1 };
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !/^\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|```|~~~|\|)/.test(lines[end])) end += 1;
  return { node: html`<p>${inline(lines.slice(at, end).join(" "))}</p>`, end };
}

// Emphasis, code and links within a line. A link goes nowhere but to http(s), and says where.
function inline(text) {
  const nodes = [];
  let rest = text;
  for (let found; (found = INLINE.exec(rest));) {
    if (found.index) nodes.push(rest.slice(0, found.index));
    const [whole, code, strong, soft, label, address] = found;
    if (code) nodes.push(html`<code>${code.slice(1, -1)}</code>`);
    else if (strong) nodes.push(html`<strong>${strong}</strong>`);
    else if (soft) nodes.push(html`<em>${soft}</em>`);
    else if (ADDRESS.test(address)) nodes.push(html`<a href=${address} target="_blank" rel="noopener noreferrer nofollow">${label}</a> <span class="dim">(${address})</span>`);
    else nodes.push(whole);
    rest = rest.slice(found.index + whole.length);
  }
  nodes.push(rest);
  return nodes;
}

// Text of files as it may be shown: bounded, and with the characters that change how others read made visible.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { dateText, t, timeText } from "../../texts.js";

export const LIMIT = 20000;
// Overrides of direction, signs of no width, and control characters but for tab and line ends.
const HIDDEN = /[\u202a-\u202e\u2060-\u2069\u200b\u200e\u200f\u061c\ufeff\u{e0000}-\u{e007f}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu;

export function visible(text) {
  return String(text ?? "").replace(HIDDEN, (sign) => `‹U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

// One value of a file in a line of the page's own: isolated, bounded.
export function Said({ text, limit = 400 }) {
  const shown = visible(String(text ?? "").slice(0, limit));
  return html`<bdi class="said">${shown}${String(text ?? "").length > limit ? "…" : ""}</bdi>`;
}

// A longer text; what is over the limit is shown when it is asked for.
export function LongText({ text, limit = 2000 }) {
  const [most, more] = useState(limit);
  return html`<pre class="long" dir="auto">${visible(text.slice(0, most))}</pre>
    ${text.length > most && html`<button type="button" onClick=${() => more(most * 4)}>${t("part.more", { left: text.length - most })}</button>`}`;
}

export function clock(stamp) {
  const time = stamp ? new Date(stamp) : null;
  return time && !Number.isNaN(time.getTime()) ? timeText(time) : "";
}

export function when(stamp) {
  const time = stamp ? new Date(stamp) : null;
  return time && !Number.isNaN(time.getTime()) ? dateText(time) : "";
}

export function seconds(from, to) {
  const s = Math.max(0, (new Date(to) - new Date(from)) / 1000);
  return s < 10 ? `${s.toFixed(1)} s` : s < 120 ? `${Math.round(s)} s` : `${Math.round(s / 60)} min`;
}

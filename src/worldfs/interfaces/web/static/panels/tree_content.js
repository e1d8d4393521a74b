// Bytes of a file as something that a person can look at. Everything becomes text, or a picture of a known kind.

const MOST = 200000; // characters that are drawn
const HEX_ROWS = 256;
const PICTURES = [["image/png", [0x89, 0x50, 0x4e, 0x47]], ["image/jpeg", [0xff, 0xd8, 0xff]], ["image/gif", [0x47, 0x49, 0x46, 0x38]], ["image/webp", [0x52, 0x49, 0x46, 0x46]]];
// Characters that turn the direction of what follows, or that nobody sees, also where prose may use them rightly: a file is
// shown as it is, so each by its number.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/g;

export function visibleText(text) {
  return text.replace(HIDDEN, (letter) => `‹U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

export function bytesText(size) {
  if (size < 1024) return `${size} B`;
  return size < 1048576 ? `${(size / 1024).toFixed(1)} KiB` : `${(size / 1048576).toFixed(1)} MiB`;
}

// {text, cut?, wrong?} or {url} of a picture. `cut`: bytes that are not shown; `wrong`: the key of a text.
export function contentOf(path, data) {
  const kind = PICTURES.find(([, head]) => head.every((byte, at) => data[at] === byte));
  if (kind) return { url: URL.createObjectURL(new Blob([data], { type: kind[0] })) };
  let text;
  try { text = new TextDecoder("utf-8", { fatal: true }).decode(data.subarray(0, MOST * 4)); }
  catch {
    const cut = data.length > MOST * 4;
    if (!cut) return hex(data);
    text = new TextDecoder().decode(data.subarray(0, MOST * 4));
  }
  if (text.includes("\0")) return hex(data);
  const pretty = path.endsWith(".json") && data.length <= MOST ? prettyJson(text) : { text };
  const cut = pretty.text.length > MOST ? pretty.text.length - MOST : Math.max(0, data.length - MOST * 4);
  return { text: visibleText(pretty.text.slice(0, MOST)), cut, wrong: pretty.wrong };
}

function prettyJson(text) {
  try { return { text: JSON.stringify(JSON.parse(text), null, 2) }; }
  catch { return text.trim() ? { text, wrong: "tree.no_json" } : { text }; }
}

function hex(data) {
  const rows = [];
  for (let at = 0; at < Math.min(data.length, HEX_ROWS * 16); at += 16) {
    const row = data.subarray(at, at + 16);
    const bytes = [...row].map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(48);
    rows.push(`${at.toString(16).padStart(8, "0")}  ${bytes} ${[...row].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("")}`);
  }
  return { text: rows.join("\n"), cut: Math.max(0, data.length - HEX_ROWS * 16), wrong: "tree.binary" };
}

// Texts by key, in English and Chinese. Each panel adds its own.
import { signal } from "@preact/signals";

const tables = { en: {}, zh: {} };
const KEY = "worldfs.language";

export const language = signal(first());
export const LANGUAGES = { en: "English", zh: "中文" };

export function addTexts(texts) { for (const [name, table] of Object.entries(texts)) Object.assign(tables[name], table); }

language.subscribe((name) => { if (globalThis.document) document.documentElement.lang = name === "zh" ? "zh-Hans" : name; });

export function setLanguage(name) {
  language.value = name;
  try { localStorage.setItem(KEY, name); } catch { /* private mode */ }
}

// The text of a key; {name} is replaced. A missing text is its key, so that it is seen.
export function t(key, values = {}) {
  const text = tables[language.value][key] ?? tables.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => name in values ? String(values[name]) : whole);
}

// A moment as the page's language writes it; where the browser speaks it too, in the browser's own way.
export const timeText = (stamp) => new Date(stamp).toLocaleTimeString(locale());
export const dateText = (stamp, how) => new Date(stamp).toLocaleString(locale(), how);

function locale() {
  if (globalThis.navigator?.language?.startsWith(language.value)) return undefined;
  return language.value === "zh" ? "zh-CN" : "en-GB";
}

function first() {
  const asked = new URLSearchParams(globalThis.location?.search).get("language");
  let kept = null;
  try { kept = localStorage.getItem(KEY); } catch { /* private mode */ }
  return [asked, kept, (globalThis.navigator?.language || "en").slice(0, 2)].find((name) => name in tables) || "en";
}

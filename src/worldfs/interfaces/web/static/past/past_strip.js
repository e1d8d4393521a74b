// The scrubber: one line of moments, moved by pointer or keys; it stands above every panel while the past is shown.
import { html } from "htm/preact";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { dateText, t } from "../texts.js";
import { findMoments, placeOf } from "./moments.js";

const AGAIN_MS = 1000; // after a change: those of one action come together
const lines = new WeakMap(); // world → signal of {moments, files, error, cut, loading}
const WATCHED = ["/projects/main/ENVIRONMENT.md", "/projects/main/TASK.md", "/projects/main/LESSONS.md"];

export function momentsOf(world) {
  if (!lines.has(world)) lines.set(world, signal({ moments: [], files: [], error: null, cut: false, loading: true }));
  return lines.get(world);
}

// Keeps the line up to date while a component that shows it is mounted.
export function useMoments(world) {
  const line = momentsOf(world);
  useEffect(() => {
    const over = new AbortController();
    let timer = 0;
    const look = async () => {
      timer = 0;
      try {
        const found = await findMoments(world, over.signal);
        if (found) line.value = { ...found, loading: false };
      } catch (error) { line.value = { ...line.value, error, loading: false }; }
    };
    const later = () => { if (!timer) timer = setTimeout(look, AGAIN_MS); };
    look();
    for (const path of WATCHED) world.follow(path, later, { signal: over.signal });
    return () => { over.abort(); clearTimeout(timer); };
  }, [world]);
  return line.value;
}

export const goTo = (world, moments, place) => {
  world.at.value = place >= moments.length ? null : moments[Math.max(0, place)].time;
};

// Where the world is in the line; moments.length is now.
export function placeNow(world, moments) {
  return world.at.value === null ? moments.length : Math.max(0, placeOf(moments, world.at.value));
}

export function when(time, seconds = true) {
  const at = new Date(time);
  return dateText(at, { dateStyle: "medium", timeStyle: seconds ? "medium" : "short" });
}

export function Strip({ world }) {
  const { moments } = useMoments(world);
  const place = placeNow(world, moments);
  const last = moments.length;
  const go = (to) => goTo(world, moments, Math.min(last, Math.max(0, to)));
  const keys = (event) => {
    const to = { PageUp: place + 10, PageDown: place - 10, Home: 0, End: last }[event.key];
    if (to !== undefined) { event.preventDefault(); go(to); }
  };
  const words = place >= last ? t("past.now") : when(moments[place].time);
  return html`<div class="past-strip">
    <button type="button" aria-label=${t("past.earlier")} title=${t("past.earlier")} disabled=${!last || place <= 0} onClick=${() => go(place - 1)}>‹</button>
    <input type="range" min="0" max=${last} step="1" value=${place} aria-label=${t("past.scrub")} aria-valuetext=${words}
      disabled=${!last} onInput=${(event) => go(Number(event.target.value))} onKeyDown=${keys} />
    <button type="button" aria-label=${t("past.later")} title=${t("past.later")} disabled=${place >= last} onClick=${() => go(place + 1)}>›</button>
    <output class="mono">${words}</output>
  </div>`;
}

// What stands above every panel while the past is shown; the panel of the past has the strip itself.
export function Banner({ world, panel }) {
  if (world.at.value === null) return null;
  return html`<section class="notice past" aria-label=${t("past.title")}>
    <p role="status">${t("past.banner", { time: when(world.at.value) })} ·
      <button type="button" class="primary" onClick=${() => { world.at.value = null; }}>${t("past.leave")}</button></p>
    ${panel !== "past" && html`<${Strip} world=${world} />`}
  </section>`;
}

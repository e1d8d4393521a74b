// Numbers over something as a plot, with the same numbers for a screen reader.
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";

const ready = signal(null); // the library: it comes with the first plot, so who looks at the robot does not wait for it
let asked = false;

const COLOURS = ["--accent", "--good", "--warn", "--bad", "--dim"];
const HEIGHT = 170;
const LEAST = { true: 60, false: 1e-9 }; // of an axis: seconds, or whatever is counted

// lines: [{label, values}]; x: numbers, times in seconds with `time`.
export function Plot({ label, x, lines, time = false, bars = false }) {
  const place = useRef(null);
  useEffect(() => {
    const uPlot = ready.value;
    if (!uPlot) fetchLibrary();
    if (!uPlot || !x.length) return undefined;
    const style = getComputedStyle(place.current), ink = style.getPropertyValue("color");
    const colour = (at) => style.getPropertyValue(COLOURS[at % COLOURS.length]).trim() || ink;
    const probe = (at) => { place.current.style.borderTopColor = `var(${COLOURS[at % COLOURS.length]})`; return getComputedStyle(place.current).borderTopColor || colour(at); };
    const axis = { stroke: ink, grid: { stroke: "rgba(128,128,128,.18)", width: 1 }, ticks: { show: false } };
    const drawn = new uPlot({
      width: Math.max(220, place.current.clientWidth), height: HEIGHT, scales: { x: { time, range: (_, from, to) => to - from < LEAST[time] ? [from - LEAST[time], to + LEAST[time]] : [from, to] } }, axes: [axis, { ...axis, size: 56 }],
      legend: { show: lines.length > 1 || !bars }, cursor: { y: false },
      series: [{}, ...lines.map((line, at) => ({ label: line.label, stroke: probe(at), width: 1.5, points: { show: x.length < 40 }, ...(bars ? { paths: uPlot.paths.bars({ size: [0.7, 40] }), fill: probe(at) } : {}) }))],
    }, [x, ...lines.map((line) => line.values)], place.current);
    const fit = new ResizeObserver(() => place.current && drawn.setSize({ width: Math.max(220, place.current.clientWidth), height: HEIGHT }));
    fit.observe(place.current);
    return () => { fit.disconnect(); drawn.destroy(); };
  }, [label, x.length, x.at(-1), lines.map((line) => line.label).join(), lines[0]?.values.at(-1), ready.value]);
  const told = lines.map((line) => `${line.label}: ${line.values.at(-1) ?? "–"}`).join(", ");
  return html`<figure class="plot"><figcaption>${label}</figcaption><div ref=${place} role="img" aria-label=${`${label}. ${told}`}></div></figure>`;
}

// A script and not a module: its only minified build sets a global name.
function fetchLibrary() {
  if (asked) return;
  asked = true;
  const folder = new URL("../../vendor/uplot/", import.meta.url);
  const script = Object.assign(document.createElement("script"), { src: new URL("uPlot.iife.min.js", folder) });
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("uPlot.min.css", folder) });
  script.onload = () => { ready.value = globalThis.uPlot; };
  script.onerror = () => { asked = false; script.remove(); style.remove(); };
  document.head.prepend(style, script); // our own styles come later, and win
}

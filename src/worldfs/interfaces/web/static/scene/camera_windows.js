// What the cameras saw last: the newest picture of each, in colour and in depth, as small windows.
import { html } from "htm/preact";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { liveBytes, liveList } from "../live_file.js";
import { t, timeText } from "../texts.js";
import { paintDepth } from "./depth_picture.js";

const ROOT = "/projects/main/artifacts/camera";
const deep = signal(false); // depth is read when it is asked for: one picture is a megabyte
const NAME = /^(.+)_(\d{3,})(_depth)?\.(png|npy)$/;

// Pictures are read while somebody looks: not below the edge of a phone's screen.
export function CameraWindows({ world }) {
  const [seen, setSeen] = useState(false), place = useRef(null);
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => setSeen(entries.at(-1).isIntersecting));
    if (place.current) watch.observe(place.current);
    return () => watch.disconnect();
  }, [world.at.value]);
  if (world.at.value !== null) return null; // pictures are no part of the kept past
  return html`<section class="card" aria-label=${t("world.cameras")} ref=${place}>
    <div class="side-head"><h2>${t("world.cameras")}</h2>
      <button type="button" aria-pressed=${String(deep.value)} onClick=${() => { deep.value = !deep.value; }}>${t("world.depth")}</button></div>
    ${seen ? html`<${Newest} world=${world} />` : html`<div class="views-unseen"></div>`}
  </section>`;
}

function Newest({ world }) {
  const listed = liveList(world, ROOT).value.value || [];
  const folders = listed.filter((entry) => entry.kind === "dir").map((entry) => entry.name).slice(0, 12);
  const own = newest(listed, deep.value);
  return html`
    ${!own.length && !folders.length && html`<p class="dim">${t("world.no_cameras")}</p>`}
    <div class="views">${own.map((one) => html`<${Picture} key=${one.key} world=${world} folder=${ROOT} one=${one} />`)}</div>
    ${folders.map((name) => html`<${Folder} key=${name} world=${world} name=${name} />`)}`;
}

// The cameras of one robot of several.
function Folder({ world, name }) {
  const listed = liveList(world, `${ROOT}/${name}`).value.value || [];
  return html`<h3><bdi>${name}</bdi></h3><div class="views">${newest(listed, deep.value).map((one) => html`<${Picture} key=${one.key} world=${world} folder=${`${ROOT}/${name}`} one=${one} />`)}</div>`;
}

// The last picture of each camera and kind.
export function newest(entries, deep) {
  const found = new Map();
  for (const { name, mtime_ms: at } of entries) {
    const [, camera, number, depth] = NAME.exec(name) || [];
    if (!camera || depth && !deep) continue;
    const key = `${camera}${depth ? " depth" : ""}`, before = found.get(key);
    if (!before || Number(number) > before.number) found.set(key, { key, camera, depth: Boolean(depth), number: Number(number), name, at });
  }
  return [...found.values()].sort((one, other) => one.key < other.key ? -1 : 1);
}

function Picture({ world, folder, one }) {
  const file = liveBytes(world, `${folder}/${one.name}`).value;
  const [words, say] = useState(""), [broken, breaks] = useState(false);
  const place = useRef(null);
  const seen = (good) => () => { breaks(!good); say(good ? "" : t("world.camera_bad", { name: one.name })); };
  useEffect(() => {
    if (!file.value) return undefined;
    if (one.depth) {
      try { const { near, far } = paintDepth(place.current, file.value); say(t("world.far", { near: near.toFixed(1), far: far.toFixed(1) })); }
      catch { say(t("world.camera_bad", { name: one.name })); }
      return undefined;
    }
    const address = URL.createObjectURL(new Blob([file.value], { type: "image/png" }));
    place.current.src = address;
    return () => URL.revokeObjectURL(address);
  }, [file.value]);
  const label = one.depth ? `${one.camera} · ${t("world.depth")}` : one.camera;
  return html`<figure>${one.depth ? html`<canvas ref=${place} role="img" aria-label=${label}></canvas>` : html`<img ref=${place} class=${broken ? "views-none" : ""} alt=${label} onLoad=${seen(true)} onError=${seen(false)} />`}
    <figcaption><bdi>${label}</bdi> ${words} ${one.at ? html`<span title=${one.name}>${timeText(one.at)}</span>` : ""}</figcaption></figure>`;
}

// The world in 3D, and beside it what its cameras saw, what was measured, and where everything is, in words.
import { html } from "htm/preact";
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { texts } from "../scene/scene_texts.js";
import { watchScene } from "../scene/scene_feed.js";
import { SceneModel } from "../scene/scene_model.js";
import { CameraWindows } from "../scene/camera_windows.js";
import { Limits } from "../scene/limits.js";
import { Measured } from "../scene/measured.js";
import { liveJson } from "../live_file.js";
import { t, timeText } from "../texts.js";

export { texts };

const BASE = "/projects/main/scene";
const OVERLAYS = ["labels", "plan", "contacts", "reach", "reserved"];
const query = new URLSearchParams(globalThis.location?.search);
const shown = signal({ labels: true, plan: true, contacts: false, reach: false, reserved: true });

function View({ world }) {
  const model = useModel();
  const viewer = useRef(null), canvas = useRef(null), pills = useRef(null);
  const [drawing, setDrawing] = useState({ state: "starting" });
  const at = world.at.value;
  useViewer({ canvas, pills, viewer, model, setDrawing });
  useScene({ world, at, model, viewer });
  useEffect(() => viewer.current?.show(shown.value), [shown.value, drawing]);
  useBackground({ viewer, canvas, drawing });
  return html`<div class="world">
    <section class="stage" aria-label=${t("world.title")}>
      <canvas ref=${canvas} tabindex="0" role="img" aria-label=${t("world.picture")} aria-describedby="where"
        onKeyDown=${(event) => { if (viewer.current?.press(event.key)) event.preventDefault(); }}></canvas>
      <div class="stage-labels" ref=${pills} aria-hidden="true"></div>
      <${Words} world=${world} model=${model} drawing=${drawing} />
      ${shown.value.reach && model.state.value.ready && html`<${Limits} world=${world} robots=${model.robots} viewer=${viewer} drawing=${drawing} />`}
      <${Tools} model=${model} viewer=${viewer} past=${at !== null} />
    </section>
    <div class="world-side">
      ${at === null && html`<${Measured} world=${world} viewer=${viewer} drawing=${drawing} />`}
      <${CameraWindows} world=${world} />
      <${Things} model=${model} />
    </div>
  </div>`;
}

function useModel() {
  const kept = useRef(null);
  kept.current ??= new SceneModel();
  return kept.current;
}

// three.js comes only when there is a picture to draw; without WebGL the words remain.
function useViewer({ canvas, pills, viewer, model, setDrawing }) {
  useEffect(() => {
    let over = false;
    const low = query.get("quality") || "";
    import("../scene/viewer.js").then(({ Viewer }) => {
      if (over) return;
      const made = new Viewer(canvas.current, pills.current, { low: low === "low" ? true : low === "high" ? false : null, manual: query.get("manual") === "1" });
      viewer.current = made;
      if (globalThis.worldfs) globalThis.worldfs.scene = made;
      if (made.manual) globalThis.drawFrame = () => made.drawFrame();
      made.show(shown.value);
      if (model.geometry) made.setGeometry(model.geometry);
      const whole = model.whole();
      if (whole.rows.length) made.apply(whole); // else its first frame is on its way, and nothing is anywhere yet
      setDrawing({ state: "drawing" });
    }).catch((error) => { console.warn("scene", error); if (!over) setDrawing({ state: "none", error }); });
    return () => { over = true; viewer.current?.close(); viewer.current = null; };
  }, []);
}

function useBackground({ viewer, canvas, drawing }) {
  useEffect(() => {
    const paint = () => viewer.current?.background(getComputedStyle(canvas.current.parentElement).backgroundColor);
    const dark = matchMedia("(prefers-color-scheme: dark)"), theme = new MutationObserver(paint);
    dark.addEventListener("change", paint);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    paint();
    return () => { dark.removeEventListener("change", paint); theme.disconnect(); };
  }, [drawing]);
}

function useScene({ world, at, model, viewer }) {
  const hidden = useHidden();
  useEffect(() => {
    if (hidden) return undefined;
    const over = new AbortController();
    const see = {
      geometry(value) { model.describe(value); viewer.current?.setGeometry(value); },
      frame(frame) { model.move(frame); viewer.current?.apply(frame); },
      plan(value) { viewer.current?.setPlan(value); },
      contacts(value) { viewer.current?.setContacts(value); },
      failed(error) { model.fail(error); viewer.current?.setGeometry({ bodies: [] }); },
    };
    watchScene(world, BASE, see, () => ({ plan: shown.value.plan || shown.value.reserved, contacts: shown.value.contacts }), over.signal);
    return () => over.abort();
  }, [world, at, hidden]);
}

// Nobody looks at a hidden tab: its stream ends, and begins whole when it is seen again.
function useHidden() {
  const [hidden, set] = useState(document.hidden);
  useEffect(() => {
    const look = () => set(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return hidden;
}

function Words({ world, model, drawing }) {
  const { error, ready } = model.state.value, moving = model.moving.value;
  const gap = useGap(world);
  const nodes = liveJson(world, "/meta/status.json").value.value?.nodes || [];
  const unseen = ready ? nodes.map((node) => node.id).filter((id) => !model.robots.some((robot) => robot.id === id)) : [];
  return html`<div class="stage-words" role="status">
    ${error ? html`<p class="warn-text"><bdi>${t("world.none", { why: error.message })}</bdi></p>` : !ready && html`<p>${t("world.loading")}</p>`}
    ${drawing.state === "none" && html`<p class="warn-text"><bdi>${t("world.no_3d", { why: drawing.error.message })}</bdi></p>`}
    ${ready && world.at.value === null && html`<p><span class=${moving ? "good" : ""}>${t(moving ? "world.moving" : "world.still")}</span></p>`}
    ${unseen.length > 0 && html`<p title=${t("world.unseen_why")}><bdi>${t("world.unseen", { ids: unseen.join(", ") })}</bdi></p>`}
    ${gap && html`<p>${t("world.back", gap)}</p>`}
  </div>`;
}

// From when to when the connection was lost, the last time.
function useGap(world) {
  const [gap, set] = useState(null);
  const lost = useRef(0);
  const state = world.state.value, since = world.since.value;
  useEffect(() => {
    if (state !== "open" && since) lost.current = since;
    else if (state === "open" && lost.current) {
      set({ from: timeText(lost.current), to: timeText(Date.now()) });
      lost.current = 0;
    }
  }, [state, since]);
  return gap;
}

function Tools({ model, viewer, past }) {
  const robots = model.state.value.ready ? model.robots : [];
  const flip = (name) => { shown.value = { ...shown.value, [name]: !shown.value[name] }; };
  const offered = OVERLAYS.filter((name) => !(past && (name === "plan" || name === "contacts" || name === "reserved")) && (name !== "reserved" || robots.length > 1));
  return html`<div class="stage-tools">
    <fieldset><legend class="hidden">${t("world.show")}</legend>
      ${offered.map((name) => html`<button key=${name} type="button" aria-pressed=${String(shown.value[name])} title=${t(`world.${name}_tip`)} onClick=${() => flip(name)}>${t(`world.${name}`)}</button>`)}
    </fieldset>
    <span class="room"></span>
    ${robots.length > 1 && html`<label><span class="hidden">${t("world.look_at")}</span><select aria-label=${t("world.look_at")} onChange=${(event) => viewer.current?.lookAt(event.target.value)}>
      <option value="">${t("world.everything")}</option>${robots.map(({ id }) => html`<option key=${id} value=${id}>${id}</option>`)}</select></label>`}
    <button type="button" aria-label=${t("world.nearer")} title=${t("world.nearer")} onClick=${() => viewer.current?.press("+")}>+</button>
    <button type="button" aria-label=${t("world.farther")} title=${t("world.farther")} onClick=${() => viewer.current?.press("-")}>−</button>
    <button type="button" aria-label=${t("world.home")} title=${t("world.home")} onClick=${() => viewer.current?.press("0")}>⌂</button>
  </div>`;
}

function Things({ model }) {
  const things = model.things.value;
  return html`<section class="card" id="where" aria-label=${t("world.things")}><h2>${t("world.things")}</h2>
    <table><thead class="hidden"><tr><th>${t("world.thing")}</th><th>${t("world.place")}</th></tr></thead><tbody>
    ${things.slice(0, 200).map(({ id, name, position }) => html`<tr key=${id}><td title=${id}><bdi>${name}</bdi></td><td class="mono">${position.map((v) => v.toFixed(2)).join(" ")}</td></tr>`)}
    </tbody></table></section>`;
}

export const panel = { id: "world", title: "world.title", View };

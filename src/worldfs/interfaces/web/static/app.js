// The frame: header, tabs, sign-in. Each panel is a module with its own texts.
import { render, Component } from "preact";
import { html } from "htm/preact";
import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { World } from "./connection.js";
import { LANGUAGES, addTexts, language, setLanguage, t, timeText } from "./texts.js";
import { texts as frameTexts } from "./frame_texts.js";
import { forgetToken, keepToken, takeToken } from "./token.js";
import { lastStop, stopRobots } from "./stop_all.js";
import { liveJson } from "./live_file.js";
import * as worldPanel from "./panels/world.js";
import * as workPanel from "./panels/work.js";
import * as agentsPanel from "./panels/agents.js";
import * as treePanel from "./panels/tree.js";
import * as pastPanel from "./panels/past.js";
import { followAddress } from "./past/moment_link.js";
import { Banner } from "./past/past_strip.js";

const MODULES = [worldPanel, workPanel, agentsPanel, treePanel, pastPanel];
const PANELS = MODULES.map((module) => module.panel);
const THEMES = ["auto", "light", "dark"];

addTexts(frameTexts);
for (const module of MODULES) addTexts(module.texts);

const world = signal(null);
const asked = signal(""); // a tab's id
const theme = signal(localStorage.getItem("worldfs.theme") || "auto");
let leaveAddress = () => {}; // ends what ties the address to the moment that is shown

function App() {
  if (!world.value) return html`<${SignIn} />`;
  const open = PANELS.find((panel) => panel.id === asked.value) || PANELS[0];
  return html`
    <a class="skip" href="#panel">${t("app.skip")}</a>
    <${Header} />
    <${Tabs} open=${open} />
    <${Notices} panel=${open.id} />
    <main id="panel" role="tabpanel" aria-labelledby=${`tab-${open.id}`} tabindex="-1" class=${`panel panel-${open.id} ${world.value.state.value === "open" ? "" : "stale"}`}>
      <${Guard} key=${open.id}><${open.View} world=${world.value} /><//>
    </main>`;
}

function Header() {
  const { state, may } = world.value;
  const { role, agent } = may.value;
  return html`<header class="bar">
    <strong class="brand">worldfs</strong>
    <span class=${`state state-${state.value}`} role="status"><i aria-hidden="true"></i><span>${t(`state.${state.value}`)}</span></span>
    ${role && html`<span class="who" title=${t("who.label", { role, agent })}><bdi>${t("who.is", { role, agent })}</bdi></span>`}
    <span class="room"></span>
    <label class="choice"><span class="hidden">${t("app.language")}</span>
      <select aria-label=${t("app.language")} value=${language.value} onChange=${(event) => setLanguage(event.target.value)}>
        ${Object.entries(LANGUAGES).map(([name, word]) => html`<option value=${name}>${word}</option>`)}
      </select></label>
    <label class="choice"><span class="hidden">${t("app.theme")}</span>
      <select aria-label=${t("app.theme")} value=${theme.value} onChange=${(event) => setTheme(event.target.value)}>
        ${THEMES.map((name) => html`<option value=${name}>${t(`theme.${name}`)}</option>`)}
      </select></label>
    <button class="quiet" type="button" onClick=${signOut}>${t("signout")}</button>
    <${StopButton} />
  </header>`;
}

function StopButton() {
  return html`<button class="stop" type="button" aria-label=${t("stop.label")} onClick=${() => stopRobots(world.value)}>${t("stop.word")}</button>`;
}

// What is known of the last stop: a line for each robot.
function LastStop() {
  const stop = lastStop.value;
  if (!stop) return null;
  const { kind, robots, why } = stop;
  const bad = kind === "undelivered" || robots.some((one) => !one.confirmed && one.stopped !== false);
  const lines = kind === "over" ? robots.map(robotText) : [kind === "undelivered" ? t("stop.undelivered", { why: why || t("stop.no_answer") }) : t(`stop.${kind}`)];
  return html`<div class=${`notice ${bad ? "alarm" : ""}`} role="alert" data-stop=${kind}>${lines.map((line) => html`<p><bdi>${line}</bdi></p>`)}
    ${kind !== "running" && kind !== "undelivered" && html`<button type="button" class="quiet" onClick=${() => { lastStop.value = null; }}>✕</button>`}</div>`;
}

const robotText = ({ id, told, stopped, confirmed, why }) => t(stopped === false ? "stop.ended" : confirmed ? "stop.confirmed" : told ? "stop.unconfirmed" : "stop.robot_undelivered", { id, why });

function Tabs({ open }) {
  const list = useRef(null);
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = PANELS[(PANELS.indexOf(open) + step + PANELS.length) % PANELS.length];
    show(next.id);
    requestAnimationFrame(() => list.current?.querySelector(`#tab-${next.id}`)?.focus());
  };
  return html`<nav aria-label=${t("app.tabs")}><div class="tabs" role="tablist" ref=${list} onKeyDown=${move}>
    ${PANELS.map(({ id, title }) => html`<button key=${id} id=${`tab-${id}`} role="tab" type="button" class="tab" aria-controls="panel"
      aria-selected=${String(id === open.id)} tabindex=${id === open.id ? 0 : -1} onClick=${() => show(id)}>${t(title)}${id === "work" && html`<${Waiting} />`}</button>`)}
  </div></nav>`;
}

// How many plans wait for a person, whichever panel is open.
function Waiting() {
  const waiting = liveJson(world.value, "/meta/status.json").value.value?.approvals || [];
  return waiting.length ? html` <span class="badge" title=${t("app.waiting", { n: waiting.length })}>${waiting.length}<span class="hidden"> ${t("app.waiting", { n: waiting.length })}</span></span>` : null;
}

// What a person must know: the connection, the past, the answer to Stop.
function Notices({ panel }) {
  const { state, since, error } = world.value;
  return html`<div class="notices" aria-live="polite">
    <${LastStop} />
    <${Banner} world=${world.value} panel=${panel} />
    ${state.value === "lost" && html`<p class="notice warn">${t("state.lost")} ${since.value ? t("state.stale", { time: timeText(since.value) }) : ""}
      <button type="button" onClick=${() => world.value.hurry()}>${t("state.retry")}</button></p>`}
    ${state.value === "refused" && html`<section class="notice warn">
      <p><bdi>${t(since.value && world.value.may.value.role ? "signin.expired" : "signin.refused", { why: error.value?.message || "" })}</bdi> ${t("signin.fix")}</p>
      <${TokenForm} onToken=${(token) => { keepToken(token); world.value.signIn(token); }} />
    </section>`}
  </div>`;
}

function SignIn() {
  return html`<main class="signin"><h1>worldfs</h1><h2>${t("signin.title")}</h2><p>${t("signin.how")}</p>
    <${TokenForm} onToken=${signInWith} /></main>`;
}

function TokenForm({ onToken }) {
  const field = useRef(null);
  const send = (event) => { event.preventDefault(); const token = field.current.value.trim(); if (token) onToken(token); };
  return html`<form class="token" onSubmit=${send}><label>${t("signin.token")}
    <input ref=${field} type="password" name="token" autocomplete="off" spellcheck=${false} required /></label>
    <button type="submit">${t("signin.go")}</button></form>`;
}

// A panel that throws takes nothing else with it.
class Guard extends Component {
  componentDidCatch(error) { this.setState({ error }); console.warn("panel", error); }
  render({ children }, { error }) {
    if (!error) return children;
    return html`<p class="notice warn" role="alert"><bdi>${t("panel.broken", { why: String(error.message || error) })}</bdi>
      <button type="button" onClick=${() => this.setState({ error: null })}>${t("panel.again")}</button></p>`;
  }
}

export function show(id, more = {}) {
  asked.value = id;
  const at = world.value?.at.value;
  const fragment = new URLSearchParams({ panel: id, ...(at ? { at } : {}), ...more });
  history.replaceState(null, "", `#${fragment}`);
}

function setTheme(name) {
  theme.value = name;
  document.documentElement.dataset.theme = name;
  localStorage.setItem("worldfs.theme", name);
}

function signInWith(token) {
  keepToken(token);
  const opened = new World({ token });
  leaveAddress();
  leaveAddress = followAddress(opened);
  world.value = opened;
  globalThis.worldfs = { world: world.value, show }; // for a person at the console, and for tests
}

function signOut() {
  forgetToken();
  world.value?.close();
  world.value = null;
}

function begin() {
  setTheme(theme.value);
  setLanguage(language.value);
  const token = takeToken();
  asked.value = new URLSearchParams(location.hash.slice(1)).get("panel") || "";
  if (token) signInWith(token);
  globalThis.addEventListener("hashchange", () => {
    const given = new URLSearchParams(location.hash.slice(1));
    if (given.has("token")) { const fresh = takeToken(); if (world.value) world.value.signIn(fresh); else signInWith(fresh); }
    asked.value = given.get("panel") || asked.value;
  });
  render(html`<${App} />`, document.getElementById("app"));
}

begin();

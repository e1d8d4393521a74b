// The jobs of the robots: what waits, what runs with its time, what ended with outcome, reason, evidence and lesson.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { liveJson, liveList } from "../../live_file.js";
import { t } from "../../texts.js";
import { Card, FileLink, notYet, useAnswer } from "./card.js";
import { may } from "./may.js";
import { Pages } from "./pages.js";
import { LongText, Said, clock, seconds } from "./plain_text.js";

const MARK = { pending: "○", running: "▶", succeeded: "✓", failed: "✗", cancelled: "–" };
const MOOD = { succeeded: "good", failed: "bad", running: "accent" };

export function Queue({ world, status, lessons }) {
  const open = openJobs(status);
  const counts = status.jobs || { pending: 0, running: 0 };
  return html`<${Card} id="queue" title=${t("queue.title")} path="/meta/status.json">
    <p class="dim" role="status">${t("queue.counts", counts)}</p>
    ${open.length === 0 && html`<p class="dim">${t("queue.empty")}</p>`}
    <${Pages} items=${open} label=${t("queue.title")} row=${(job) => html`<${Job} key=${job.id} world=${world} path=${jobPath(job)} job=${job} lessons=${lessons} />`} />
  <//>`;
}

function openJobs(status) { return (status.recent || []).filter((job) => job.state === "pending" || job.state === "running"); }

export function History({ world, status, robots, lessons }) {
  const [robot, choose] = useState("");
  const named = robots.includes(robot) ? robot : robots[0];
  if (!named) return null;
  return html`<${Card} id="history" title=${t("history.title")} path=${`/nodes/${named}/jobs`}>
    ${robots.length > 1 && html`<label class="field">${t("do.robot")} <select value=${named} onChange=${(event) => choose(event.target.value)}>${robots.map((id) => html`<option>${id}</option>`)}</select></label>`}
    <${Ended} key=${named} world=${world} robot=${named} open=${openJobs(status)} lessons=${lessons} />
  <//>`;
}

// The ids sort by time, so the names alone tell the order; only the rows that are shown are read. Open jobs are the queue's.
function Ended({ world, robot, open, lessons }) {
  const file = liveList(world, `/nodes/${robot}/jobs`).value;
  const wait = notYet(file, t("history.empty"));
  if (wait) return wait;
  const queued = new Set(open.map((job) => job.id));
  const ids = (file.value || []).filter((entry) => entry.kind === "dir" && !queued.has(entry.name)).map((entry) => entry.name).sort((one, other) => one < other ? 1 : -1);
  if (!ids.length) return html`<p class="dim">${t("history.empty")}</p>`;
  return html`<${Pages} items=${ids} label=${t("history.title")} size=${10} row=${(id) => html`<${Job} key=${id} world=${world} path=${`/nodes/${robot}/jobs/${id}`} lessons=${lessons} />`} />`;
}

export function jobPath(job) { return `/nodes/${job.node}/jobs/${job.id}`; }

function Job({ world, path, job, lessons }) {
  const file = liveJson(world, `${path}/status.json`).value, status = file.value || {};
  const order = liveJson(world, `${path}/job.json`).value.value || job || {};
  const state = status.status || job?.state, outcome = status.outcome || {};
  const [answer, run, busy] = useAnswer();
  if (!state) return html`<li class="job">${notYet(file, "…")}</li>`;
  const ended = state === "succeeded" || state === "failed", lost = !ended && job?.robot_lost;
  const learned = state === "failed" ? lessonOf(lessons, order) : "";
  return html`<li class="job" data-job=${order.id || ""} data-state=${state}>
    <p class="part-head"><span class=${lost ? "bad" : MOOD[state] || "dim"}><span aria-hidden="true">${MARK[state] || "·"}</span> ${t(lost ? "job.robot_lost" : `state.${state}`)}</span>
      <strong><${Said} text=${`${order.op || ""} ${aim(order.params)}`} /></strong>
      <span class="dim">${clock(status.completed_at || status.started_at || status.accepted_at)} ${status.started_at && ended ? seconds(status.started_at, status.completed_at) : ""}
        ${state === "running" && !lost && status.started_at && html`<${Elapsed} from=${status.started_at} />`}</span>
      <${FileLink} path=${path} label=${t("part.the_file")} />
      ${!ended && may(world, `${path}/cancel`) && html`<button type="button" disabled=${busy} aria-label=${t("job.cancel_of", { id: order.id })} onClick=${() => run(world.write(`${path}/cancel`, "cancel\n"))}>${t("job.cancel")}</button>`}</p>
    ${outcome.message && html`<p class=${outcome.ok ? "" : "error"}><${Said} text=${outcome.message} limit=${1000} /></p>`}
    ${outcome.findings?.length > 0 && html`<ul>${outcome.findings.slice(0, 20).map((one) => html`<li><code>${one.code}</code> <${Said} text=${[one.field, one.found, one.expected, one.fix].filter(Boolean).join(" · ")} /></li>`)}</ul>`}
    ${learned && html`<p class="warn-text">${t("job.lesson")} <${Said} text=${learned} limit=${600} /></p>`}
    ${outcome.evidence && html`<${Evidence} evidence=${outcome.evidence} />`}
    ${answer}
  </li>`;
}

function aim(params = {}) {
  const place = params.target ?? params.target_label ?? params.target_position ?? params.target_pose;
  const to = Array.isArray(place) ? `[${place.slice(0, 3).join(", ")}]` : place;
  return to ? `${params.object_id || ""} → ${to}`.trim() : params.object_id || params.name || "";
}

// The newest lesson that names this order, or its op and thing.
function lessonOf(lessons, order) {
  const thing = order.params?.object_id || order.params?.target || "";
  return (lessons || []).find((line) => line.includes(order.id) || order.op && line.includes(order.op) && (!thing || line.includes(thing))) || "";
}

function Elapsed({ from }) {
  const [, tick] = useState(0);
  useEffect(() => { const timer = setInterval(() => tick((n) => n + 1), 1000); return () => clearInterval(timer); }, []);
  return html`<span>${seconds(from, Date.now())}</span>`;
}

// The measured facts first, then the whole as it stands in the file.
function Evidence({ evidence }) {
  const { source, sim_seconds: simulated, object_moved: moved, distance_to_goal: left, contacts } = evidence;
  const facts = [["source", source], ["moved", moved === undefined ? undefined : `${moved} m`], ["left", left === undefined ? undefined : `${left} m`],
    ["simulated", simulated === undefined ? undefined : `${simulated} s`], ["contacts", contacts?.map((pair) => [].concat(pair).join("–")).join(", ")]].filter(([, value]) => value !== undefined);
  return html`<dl class="facts evidence">${facts.map(([name, value]) => html`<div><dt>${t(`evidence.${name}`)}</dt><dd><${Said} text=${value} /></dd></div>`)}</dl>
    <details><summary>${t("evidence.all")}</summary><${Whole} value=${evidence} /></details>`;
}

function Whole({ value }) { return html`<${LongText} text=${JSON.stringify(value, null, 1)} />`; }

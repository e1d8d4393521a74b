// The measured evidence of a job, in words and in the picture: where its thing was, where it is, where it should be.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { liveJson } from "../live_file.js";
import { t } from "../texts.js";

export function Measured({ world, viewer, drawing }) {
  const [chosen, choose] = useState("");
  const recent = [...(liveJson(world, "/meta/status.json").value.value?.recent || [])].reverse();
  const job = recent.find((one) => one.id === chosen) || recent[0];
  return html`<section class="card" aria-label=${t("world.job")}><h2>${t("world.job")}</h2>
    ${job ? html`<select aria-label=${t("world.which_job")} value=${chosen} onChange=${(event) => choose(event.target.value)}>
        <option value="">${t("world.latest")}: ${titleOf(recent[0])}</option>
        ${recent.map((one) => html`<option key=${one.id} value=${one.id}>${one.node} · ${titleOf(one)}</option>`)}</select>
      <${Job} key=${job.id} world=${world} job=${job} viewer=${viewer} drawing=${drawing} />`
    : html`<p class="dim">${t("world.no_jobs")}</p>`}
  </section>`;
}

function titleOf({ op, params = {}, state }) {
  const aim = params.object_id || params.target || params.target_label || params.name || params.nl_task || "";
  return `${op} ${typeof aim === "string" ? aim.slice(0, 60) : ""} · ${t(`state.${state}`)}`;
}

function Job({ world, job, viewer, drawing }) {
  const outcome = liveJson(world, `/nodes/${job.node}/jobs/${job.id}/status.json`).value.value?.outcome || null;
  const evidence = outcome?.evidence;
  useEffect(() => {
    viewer.current?.setEvidence(evidence ? placesOf(evidence) : []);
    return () => viewer.current?.setEvidence([]);
  }, [evidence, drawing]);
  if (!outcome) return html`<p class="dim">${t(`state.${job.state}`)}</p>`;
  return html`<dl>${linesOf(outcome).map(([key, words]) => html`<dt key=${key}>${t(`evidence.lines.${key}`)}</dt><dd class=${key === "outcome" ? outcome.ok ? "good" : "bad" : ""}><bdi>${words}</bdi></dd>`)}</dl>
    ${evidence && placesOf(evidence).length > 0 && html`<p class="dim">${t("world.in_scene")}</p>`}`;
}

export function linesOf({ message, evidence = {} }) {
  const metres = (value) => Number.isFinite(value) ? `${value.toFixed(3)} m` : "";
  return [
    ["outcome", String(message || "")],
    ["measured", [evidence.engine, evidence.source].filter(Boolean).join(" · ")],
    ["moved", metres(evidence.object_moved)],
    ["left", metres(evidence.distance_to_goal)],
    ["touches", (evidence.contacts || []).slice(0, 12).map((pair) => [].concat(pair).join(" – ")).join(", ")],
    ["opening", metres(evidence.gripper_opening)],
    ["lasted", Number.isFinite(evidence.sim_seconds) ? `${evidence.sim_seconds.toFixed(1)} s` : ""],
    ["tries", evidence.attempts > 1 ? String(evidence.attempts) : ""],
  ].filter(([, words]) => words);
}

// [{kind: "before" | "after" | "goal", position}]
export function placesOf({ before, after, goal }) {
  const known = (kind, position) => Array.isArray(position) && position.length >= 3 && position.slice(0, 3).every(Number.isFinite) ? [{ kind, position: position.slice(0, 3) }] : [];
  const of = (side) => side?.object?.position || side?.tcp?.position;
  return [...known("before", of(before)), ...known("after", of(after)), ...known("goal", goal?.position)];
}

// An instruction: typed, read back by the robot's own reading, and only then accepted.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { t } from "../../texts.js";
import { Card, FileLink, useAnswer } from "./card.js";
import { ChatJob } from "./chat_job.js";
import { Said } from "./plain_text.js";

export const INPUT = "/agents/self/chat/control/input";

export function readingPath(robot, words) { return `/nodes/${robot}/readings/${words}`; }

export function DoBox({ world, robots }) {
  const [words, type] = useState(""), [robot, choose] = useState("");
  const [reading, read] = useState(null), [job, follow] = useState("");
  const [answer, run, busy] = useAnswer();
  const named = robots.includes(robot) ? robot : robots[0];
  const ask = async (text) => {
    const said = text.replaceAll("\n", " ").trim();
    type(text); read(null); follow("");
    if (!said) return;
    const found = await run(readBack(world, named, said));
    if (found?.kind === "stop") return send(said);
    read(found);
  };
  const send = async (text) => {
    const sent = await run(world.write(INPUT, text));
    if (sent) { read(null); follow(sent.result_path || ""); }
  };
  return html`<${Card} id="do" title=${t("do.title")} path=${INPUT} wide>
    <form class="line" onSubmit=${(event) => { event.preventDefault(); ask(words); }}>
      ${robots.length > 1 && html`<label class="field">${t("do.robot")}
        <select value=${named} onChange=${(event) => { choose(event.target.value); read(null); }}>${robots.map((id) => html`<option value=${id}>${id}</option>`)}</select></label>`}
      <label class="grow"><span class="hidden">${t("do.label")}</span>
        <input name="do" type="text" maxlength="160" autocomplete="off" dir="auto" placeholder=${t("do.example")} value=${words} onInput=${(event) => { type(event.target.value); read(null); }} /></label>
      <button type="submit" class="primary" disabled=${busy || !words.trim() || !named}>${t("do.read")}</button>
    </form>
    ${answer}
    ${reading && html`<${Reading} reading=${reading} path=${readingPath(named, reading.instruction)} busy=${busy}
      accept=${() => send(reading.instruction)} reject=${() => read(null)} choose=${ask} />`}
    ${job && html`<${ChatJob} key=${job} world=${world} path=${job} send=${send} />`}
  <//>`;
}

// Who may not read the scene, or says what cannot be a file's name, can still ask the agent.
async function readBack(world, robot, words) {
  try {
    if (words.includes("/")) return { kind: "unknown", instruction: words, reason: t("do.no_slash") };
    return await world.readJson(readingPath(robot, words));
  } catch (error) {
    if (!["enoent", "eperm", "eacces", "forbidden", "invalid"].includes(error.code)) throw error;
    return { kind: "unknown", instruction: words, reason: error.message };
  }
}

function Reading({ reading, path, busy, accept, reject, choose }) {
  const { kind, understood, goals = [], steps = [], can = [] } = reading;
  return html`<div class="reading" role="region" aria-label=${t("do.reading")} aria-live="polite">
    <p class="part-head"><strong>${t(kind === "command" && understood ? "do.understood" : kind === "question" ? "do.answer" : "do.refused")}</strong> <${FileLink} path=${path} label=${t("part.the_file")} /></p>
    ${reading.note && html`<p><${Said} text=${reading.note} /></p>`}
    ${reading.answer && html`<p><${Said} text=${reading.answer} limit=${2000} /></p>`}
    ${goals.length > 0 && html`<h3>${t("do.goals")}</h3><ul class="goals">${goals.map((goal) => html`<li><span aria-hidden="true">${goal.held ? "✓" : "○"}</span> <${Said} text=${goal.text} />${goal.held ? html` <span class="dim">${t("do.held")}</span>` : ""}</li>`)}</ul>`}
    ${steps.length > 0 && html`<h3>${t("do.steps", { n: steps.length })}</h3><ol class="steps">${steps.map((step) => html`<li><${Said} text=${step} /></li>`)}</ol>`}
    ${reading.reason && html`<p class="error"><${Said} text=${reading.reason} limit=${2000} /></p>`}
    ${can.length > 0 && html`<h3>${t("do.can")}</h3><p class="chips">${can.map((one) => html`<button type="button" onClick=${() => choose(one)}><bdi>${one}</bdi></button>`)}</p>`}
    <p class="line">
      ${kind === "command" && understood && html`<button type="button" class="primary" disabled=${busy} onClick=${accept}>${t("do.accept")}</button>`}
      ${kind === "unknown" && html`<button type="button" disabled=${busy} onClick=${accept}>${t("do.ask")}</button>`}
      <button type="button" onClick=${reject}>${t(kind === "command" && understood ? "do.reject" : "do.close")}</button>
    </p>
  </div>`;
}

// The missions of a fleet: state, robot, reason and bids.
import { html } from "htm/preact";
import { liveJson } from "../../live_file.js";
import { t } from "../../texts.js";
import { Card, FileLink, useAnswer } from "./card.js";
import { may } from "./may.js";
import { Pages } from "./pages.js";
import { LongText, Said } from "./plain_text.js";

export function Fleet({ world, project }) {
  const path = `/projects/${project}/missions.json`;
  const missions = liveJson(world, path).value.value?.missions || [];
  if (!missions.length) return null;
  return html`<${Card} id="fleet" title=${t("fleet.title")} path=${path}>
    <p><${FileLink} path=${`/projects/${project}/ORCHESTRATOR.md`} /></p>
    <${Pages} items=${missions} label=${t("fleet.title")} size=${10} row=${(mission) => html`<${Mission} key=${mission.id} world=${world} project=${project} mission=${mission} />`} />
  <//>`;
}

function Mission({ world, project, mission }) {
  const [answer, run, busy] = useAnswer();
  const over = ["succeeded", "failed", "cancelled", "done"].includes(mission.state);
  const ask = (request) => run(world.write(`/projects/${project}/mission`, JSON.stringify({ mission: mission.id, request })));
  return html`<li class="job" data-state=${mission.state}>
    <p class="part-head"><span class=${mission.state === "failed" ? "bad" : ""}><${Said} text=${mission.waits ? "waiting" : mission.state} /></span> <strong><${Said} text=${mission.title || mission.text || mission.id} /></strong>
      <span class="dim"><${Said} text=${mission.robot || ""} /> · <${Said} text=${mission.priority} /></span>
      ${!over && may(world, `/projects/${project}/mission`) && html`<button type="button" disabled=${busy} onClick=${() => ask("cancel")}>${t("job.cancel")}</button>`}</p>
    ${mission.waits && html`<p class="warn">${t("fleet.waits")} <${Said} text=${mission.waits} limit=${1000} /></p>`}
    ${mission.reason && html`<p><${Said} text=${mission.reason} limit=${1000} /></p>`}
    ${mission.bids && html`<details><summary>${t("fleet.bids")}</summary><${LongText} text=${JSON.stringify(mission.bids, null, 1)} /></details>`}
    ${answer}
  </li>`;
}

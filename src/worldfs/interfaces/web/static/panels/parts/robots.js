// The robots: what each is at; stop for everybody who sees it, resume for those who may.
import { html } from "htm/preact";
import { t } from "../../texts.js";
import { Card, FileLink, useAnswer } from "./card.js";
import { may } from "./may.js";
import { Said, when } from "./plain_text.js";
import { stopRobots } from "../../stop_all.js";

export function Robots({ world, nodes }) {
  return html`<${Card} id="robots" title=${t("robots.title")} path="/meta/status.json">
    ${nodes.length ? html`<ul class="rows">${nodes.map((node) => html`<${Robot} key=${node.id} world=${world} node=${node} />`)}</ul>` : html`<p class="dim">${t("robots.none")}</p>`}
  <//>`;
}

function Robot({ world, node }) {
  const [answer, run, busy] = useAnswer();
  const resume = () => run(world.write(`/nodes/${node.id}/resume`, "resume\n"));
  const past = world.at.value !== null, lost = node.lost, was = lost?.was_doing?.text;
  return html`<li class="robot" data-stopped=${String(Boolean(node.stopped))}>
    <p class="part-head"><strong><${Said} text=${node.id} /></strong>
      <span class=${node.stopped || lost ? "bad" : ""}>${node.stopped ? `■ ${t("robots.stopped")} ` : ""}${lost ? lostText(lost) : !node.stopped && html`<${Said} text=${node.state} />`}</span>
      <${FileLink} path=${`/nodes/${node.id}`} label=${t("part.the_file")} /></p>
    ${node.held && html`<p class="dim">${t("robots.holds")} <${Said} text=${node.held} /></p>`}
    ${node.instruction?.text && html`<p class="dim">${t("robots.at")} <${Said} text=${node.instruction.text} /></p>`}
    ${node.instruction?.waits && html`<p class="warn">${t("fleet.waits")} <${Said} text=${node.instruction.waits} limit=${1000} /></p>`}
    ${was && html`<p class="dim">${t("robots.was_at")} <${Said} text=${was} /></p>`}
    ${node.stopped && html`<p class="dim">${t("robots.by", { by: node.stopped.by, at: when(node.stopped.at) })}</p>`}
    ${(node.may_move || node.stopped && node.stopped.confirmed !== true) && html`<p class="bad">${t(node.stopped?.delivered === false ? "robots.undelivered" : "robots.unconfirmed")}</p>`}
    ${!past && html`<p class="line">
      <button type="button" class="stop" onClick=${() => stopRobots(world, node.id)} aria-label=${t("robots.stop", { id: node.id })}>${t("robots.stop_word")}</button>
      ${node.stopped && may(world, `/nodes/${node.id}/resume`) && html`<button type="button" disabled=${busy} onClick=${resume} aria-label=${t("robots.resume", { id: node.id })}>${t("robots.resume_word")}</button>`}
    </p>`}
    ${answer}
  </li>`;
}

const lostText = (lost) => lost.last_seen ? t("robots.lost_since", { at: when(lost.last_seen) }) : t("robots.lost");

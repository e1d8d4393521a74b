// What waits for a person before a robot moves: the plan, its hash, who asks; the answer, or why not this actor.
import { html } from "htm/preact";
import { liveJson } from "../../live_file.js";
import { t } from "../../texts.js";
import { Card, FileLink, useAnswer } from "./card.js";
import { HoldButton } from "./hold_button.js";
import { may } from "./may.js";
import { Said, when } from "./plain_text.js";

export function Approvals({ world, robots }) {
  return html`<${Card} id="approvals" title=${t("approvals.title")} path=${robots[0] ? `/nodes/${robots[0]}/approvals.json` : ""}>
    <p class="dim">${t("approvals.rule")}</p>
    ${robots.map((id) => html`<${OfRobot} key=${id} world=${world} id=${id} />`)}
  <//>`;
}

function OfRobot({ world, id }) {
  const file = liveJson(world, `/nodes/${id}/approvals.json`).value;
  const requests = (file.value?.requests || []).slice(-20).reverse();
  if (!requests.length) return html`<p class="dim">${t("approvals.none")} <${Said} text=${id} /></p>`;
  return requests.map((request) => html`<${Request} key=${request.plan} world=${world} request=${request} persons=${file.value.persons || []} />`);
}

function Request({ world, request, persons }) {
  const { plan, node, steps, answer } = request;
  const [said, run, busy] = useAnswer();
  const give = (word, more = {}) => run(world.write(`/nodes/${node}/approve`, JSON.stringify({ plan, answer: word, ...more })), t(`approvals.${word}`));
  return html`<article class="request" data-plan=${plan} data-answer=${answer?.answer || ""} aria-label=${t("approvals.plan", { plan })}>
    <p class="part-head"><strong><${Said} text=${request.purpose || plan} /></strong> <${FileLink} path=${`/nodes/${node}/approvals.json`} label=${node} /></p>
    <p class="dim">${t("approvals.asker")} <${Said} text=${request.ordered_by || request.orderer || request.asker} /> · ${when(request.created_at)} · ${t("approvals.hash")} <code>${plan}</code></p>
    <details><summary>${t("approvals.steps", { n: steps.length })}</summary><ol>${steps.slice(0, 200).map((step) => html`<li><code><${Said} text=${typeof step === "string" ? step : JSON.stringify(step)} limit=${600} /></code></li>`)}</ol></details>
    ${answer ? html`<p><span class=${answer.answer === "approved" ? "good" : "bad"}>${t(`approvals.${answer.answer}`)}</span> <${Said} text=${answer.by || ""} /> ${when(answer.at)}</p>`
      : may(world, `/nodes/${node}/approve`) && html`<p class="line">
        <${Yes} me=${world.may.value.person} request=${request} persons=${persons} busy=${busy} give=${give} />
        <button type="button" disabled=${busy} onClick=${() => give("refused")}>${t("approvals.no")}</button></p>`}
    ${said}
  </article>`;
}

// What the server takes of this person: a press, a held button for an order of one's own, or who else may.
function Yes({ me, request, persons, busy, give }) {
  if (!me) return html`<span class="dim">${t("approvals.person")}</span>`;
  if (request.ordered_by !== me)
    return html`<button type="button" class="primary" disabled=${busy} onClick=${() => give("approved")}>${t("approvals.yes")}</button>`;
  const others = persons.filter((person) => person !== me);
  if (others.length) return html`<span class="dim">${t("approvals.other", { names: others.join(", ") })}</span>`;
  return html`<${HoldButton} label=${t("approvals.hold")} disabled=${busy} onHeld=${() => give("approved", { confirm: request.plan })} />`;
}

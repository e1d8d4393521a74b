// One message that was sent: how far it is, what is said of it while it runs, its answer, and a reading to confirm.
import { html } from "htm/preact";
import { liveJson, liveText } from "../../live_file.js";
import { t } from "../../texts.js";
import { FileLink, useAnswer } from "./card.js";
import { may } from "./may.js";
import { LongText, Said } from "./plain_text.js";

const CONFIRM = /confirm ([0-9a-f]{16}): ([^\n]+)\s*$/;
const EVIDENCE = /^\s*evidence: /;
const MARK = { queued: "○", running: "▶", done: "✓", failed: "✗" };

export function ChatJob({ world, path, send, quiet }) {
  const folder = path.slice(0, path.lastIndexOf("/"));
  const status = liveJson(world, `${folder}/status.json`).value.value || {};
  const log = liveText(world, `${folder}/log.txt`).value.value || "";
  const ended = status.state === "done" || status.state === "failed";
  const [answer, run] = useAnswer();
  return html`<div class="job chat-job" data-state=${status.state || ""} aria-label=${t("job.of", { id: folder })} role="group">
    <p class="part-head"><span class=${status.state === "failed" ? "bad" : status.state === "done" ? "good" : ""}>${MARK[status.state] || "…"} ${t(`job.${status.state || "queued"}`)}</span>
      <${FileLink} path=${folder} />
      ${!ended && may(world, `${folder}/cancel`) && html`<button type="button" onClick=${() => run(world.write(`${folder}/cancel`, "cancel\n"))}>${t("job.cancel")}</button>`}</p>
    ${answer}
    ${!ended && !quiet && html`<${Progress} log=${log} />`}
    ${ended && html`<${Answer} world=${world} path=${`${folder}/result.txt`} send=${send} />`}
  </div>`;
}

function Progress({ log }) {
  const lines = log.trim().split("\n").slice(-6).map(parsed).filter((line) => line?.message);
  return html`<ul class="progress" aria-live="polite">${lines.map((line) => html`<li><${Said} text=${line.message} /></li>`)}</ul>`;
}

function parsed(line) { try { return JSON.parse(line); } catch { return null; } }

function Answer({ world, path, send }) {
  const text = liveText(world, path).value.value || "";
  const lines = text.split("\n"), evidence = lines.filter((line) => EVIDENCE.test(line));
  const asked = CONFIRM.exec(text);
  return html`<${LongText} text=${lines.filter((line) => !EVIDENCE.test(line)).join("\n")} />
    ${evidence.length > 0 && html`<details><summary>${t("job.evidence", { n: evidence.length })}</summary><${LongText} text=${evidence.join("\n")} /></details>`}
    ${asked && send && may(world, "/agents/self/chat/control/input") && html`<p class="line"><button type="button" class="primary" onClick=${() => send(`confirm ${asked[1]}: ${asked[2]}`)}>${t("do.accept")}</button></p>`}`;
}

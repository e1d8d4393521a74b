// The chat of the token's own agent: what was asked, what was answered, and one more message.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { liveJson, liveList, liveText } from "../../live_file.js";
import { t } from "../../texts.js";
import { Card, notYet, useAnswer } from "./card.js";
import { may } from "./may.js";
import { ChatJob } from "./chat_job.js";
import { INPUT } from "./do_box.js";
import { Said } from "./plain_text.js";

const JOBS = "/agents/self/jobs";
const FIRST = 10;

export function Chat({ world }) {
  const file = liveList(world, JOBS).value, meta = liveJson(world, "/agents/self/chat/meta.json").value.value || {};
  const [most, more] = useState(FIRST), [text, type] = useState("");
  const [answer, run, busy] = useAnswer();
  const ids = (file.value || []).filter((entry) => entry.kind === "dir").map((entry) => entry.name).sort((one, other) => number(one) - number(other));
  const send = (words) => run(world.write(INPUT, words));
  const submit = async (event) => { event.preventDefault(); if (text.trim() && await send(text)) type(""); };
  return html`<${Card} id="chat" title=${t("chat.title", { agent: meta.agent_id || "" })} path="/agents/self/chat" wide>
    ${notYet(file) || html`${ids.length > most && html`<button type="button" onClick=${() => more(most + FIRST * 2)}>${t("chat.earlier", { n: ids.length - most })}</button>`}
    <div class="talk" role="log" aria-label=${t("chat.log")} tabindex="0">${ids.slice(-most).map((id) => html`<${Turn} key=${id} world=${world} id=${id} send=${send} />`)}
      ${ids.length === 0 && html`<p class="dim">${t("chat.empty")}</p>`}</div>`}
    ${may(world, INPUT) && html`<form class="line" onSubmit=${submit}><label class="grow"><span class="hidden">${t("chat.message")}</span>
      <textarea name="message" rows="2" dir="auto" placeholder=${t("chat.message")} value=${text} onInput=${(event) => type(event.target.value)}
        onKeyDown=${(event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event); }}></textarea></label>
      <button type="submit" class="primary" disabled=${busy || !text.trim()}>${t("chat.send")}</button></form>`}
    ${answer}
  <//>`;
}

function Turn({ world, id, send }) {
  const asked = liveText(world, `${JOBS}/${id}/message.txt`).value.value;
  return html`<div class="turn">${asked ? html`<p><strong>${t("chat.you")}</strong> <${Said} text=${asked} limit=${2000} /></p>` : html`<p class="dim"><${Said} text=${id} /></p>`}
    <${ChatJob} world=${world} path=${`${JOBS}/${id}/result.txt`} send=${send} /></div>`;
}

function number(id) { return Number(id.replace(/\D/g, "")) || 0; }

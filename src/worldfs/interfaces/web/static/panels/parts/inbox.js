// Messages to an agent: those that wait, one to send, and what became of those that this tab sent.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { liveJson, liveList } from "../../live_file.js";
import { t } from "../../texts.js";
import { Card, FileLink, useAnswer } from "./card.js";
import { Pages } from "./pages.js";
import { LongText, Said, when } from "./plain_text.js";

export function Inbox({ world, folder, agent }) {
  const file = liveList(world, `${folder}/inbox`).value;
  const names = (file.value || []).map((entry) => entry.name).filter((name) => name.endsWith(".json")).sort();
  const [sent, add] = useState([]);
  return html`<${Card} id="inbox" title=${t("inbox.title")} path=${`${folder}/inbox`}>
    ${names.length ? html`<${Pages} items=${names} label=${t("inbox.title")} size=${5} row=${(name) => html`<${Letter} key=${name} world=${world} path=${`${folder}/inbox/${name}`} />`} />` : html`<p class="dim">${t("inbox.empty")}</p>`}
    ${sent.map(({ id, subject }) => html`<p key=${id} class="sent" data-acknowledged=${String(!names.includes(id))}>${names.includes(id) ? `✉ ${t("inbox.waits")}` : `✓ ${t("inbox.acknowledged")}`} <${Said} text=${subject} /></p>`)}
    ${world.may.value.write && world.at.value === null && html`<${Compose} key=${agent} world=${world} folder=${folder} agent=${agent} names=${names} sent=${(one) => add([...sent, one].slice(-20))} />`}
  <//>`;
}

function Letter({ world, path }) {
  const message = liveJson(world, path).value.value;
  if (!message) return html`<li><${FileLink} path=${path} /></li>`;
  return html`<li class="letter"><p class="part-head"><strong><${Said} text=${message.subject} /></strong> <span class="dim">${t("inbox.from")} <${Said} text=${message.from} /> · ${when(message.created_at)} · <${Said} text=${message.priority} /></span> <${FileLink} path=${path} label=${t("part.the_file")} /></p>
    <${LongText} text=${String(message.body ?? "")} limit=${600} /></li>`;
}

// The file is named by the message's id, so that its absence later is its acknowledgement.
function Compose({ world, folder, agent, sent }) {
  const [subject, name] = useState(""), [body, write] = useState("");
  const [answer, run, busy] = useAnswer();
  const send = async (event) => {
    event.preventDefault();
    const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(16).slice(2)}`;
    const letter = { id: `msg-${id}`, from: world.may.value.agent || "operator", to: agent, subject, body };
    const done = await run(world.write(`${folder}/inbox/${id}.json`, JSON.stringify(letter), { create: true }), t("inbox.sent"));
    if (done) { sent({ id: `${id}.json`, subject }); name(""); write(""); }
  };
  return html`<form onSubmit=${send} aria-label=${t("inbox.send_to", { agent })}><h3>${t("inbox.send_to", { agent })}</h3>
    <label class="field">${t("inbox.subject")} <input name="subject" required maxlength="200" value=${subject} onInput=${(event) => name(event.target.value)} /></label>
    <label class="field">${t("inbox.body")} <textarea name="body" rows="3" required value=${body} onInput=${(event) => write(event.target.value)}></textarea></label>
    <p class="line"><button type="submit" disabled=${busy}>${t("inbox.send")}</button></p>${answer}</form>`;
}

// Messages to an agent: those that wait, one to send, and what became of those that this tab sent.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { liveJson, liveList } from "../../live_file.js";
import { t } from "../../texts.js";
import { Card, FileLink, useAnswer } from "./card.js";
import { may } from "./may.js";
import { INPUT } from "./do_box.js";
import { Pages } from "./pages.js";
import { LongText, Said, when } from "./plain_text.js";

export function Inbox({ world, folder, agent }) {
  const file = liveList(world, `${folder}/inbox`).value;
  const names = (file.value || []).map((entry) => entry.name).filter((name) => name.endsWith(".json")).sort();
  const [sent, add] = useState([]);
  return html`<${Card} id="inbox" title=${t("inbox.title")} path=${`${folder}/inbox`}>
    ${names.length ? html`<${Pages} items=${names} label=${t("inbox.title")} size=${5} row=${(name) => html`<${Letter} key=${name} world=${world} path=${`${folder}/inbox/${name}`} />`} />` : html`<p class="dim">${t("inbox.empty")}</p>`}
    ${sent.map((one) => html`<${Sent} key=${one.id} world=${world} sent=${one} />`)}
    ${may(world, INPUT) && html`<${Compose} key=${agent} world=${world} folder=${folder} agent=${agent} names=${names} sent=${(one) => add([...sent, one].slice(-20))} />`}
  <//>`;
}

function Letter({ world, path }) {
  const message = liveJson(world, path).value.value;
  if (!message) return html`<li><${FileLink} path=${path} /></li>`;
  return html`<li class="letter"><p class="part-head"><strong><${Said} text=${message.subject} /></strong> <span class="dim">${t("inbox.from")} <${Said} text=${message.from} /> · ${when(message.created_at)} · <${Said} text=${message.priority} /></span> <${FileLink} path=${path} label=${t("part.the_file")} /></p>
    <${LongText} text=${String(message.body ?? "")} limit=${600} /></li>`;
}

// A message's file is gone when its recipient has acknowledged it.
function Sent({ world, sent: { path, subject } }) {
  const file = path ? liveJson(world, path).value : null;
  const waits = Boolean(file) && file.error?.code !== "enoent";
  return html`<p class="sent" data-acknowledged=${String(!waits)}>${waits ? `✉ ${t("inbox.waits")}` : `✓ ${t("inbox.acknowledged")}`} <${Said} text=${subject} /></p>`;
}

// The server names the file; "" where it is gone already.
async function pathOf(world, inbox, before, id) {
  for (const { name } of await world.list(inbox)) {
    if (before.includes(name)) continue;
    const message = await world.readJson(`${inbox}/${name}`).catch(() => null);
    if (message?.id === id) return `${inbox}/${name}`;
  }
  return "";
}

function Compose({ world, folder, agent, names, sent }) {
  const [subject, name] = useState(""), [body, write] = useState("");
  const [answer, run, busy] = useAnswer();
  const send = async (event) => {
    event.preventDefault();
    const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(16).slice(2)}`;
    const letter = { id: `msg-${id}`, from: world.may.value.agent || "operator", to: agent, subject, body };
    const done = await run(world.write(`${folder}/inbox/${id}.json`, JSON.stringify(letter), { create: true }), t("inbox.sent"));
    if (!done) return;
    name(""); write("");
    sent({ id, subject, path: await pathOf(world, `${folder}/inbox`, names, letter.id) });
  };
  return html`<form onSubmit=${send} aria-label=${t("inbox.send_to", { agent })}><h3>${t("inbox.send_to", { agent })}</h3>
    <label class="field">${t("inbox.subject")} <input name="subject" required maxlength="200" value=${subject} onInput=${(event) => name(event.target.value)} /></label>
    <label class="field">${t("inbox.body")} <textarea name="body" rows="3" required value=${body} onInput=${(event) => write(event.target.value)}></textarea></label>
    <p class="line"><button type="submit" disabled=${busy}>${t("inbox.send")}</button></p>${answer}</form>`;
}

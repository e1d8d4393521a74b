// Work: what is asked of the robots, what they do, and what came of it.
import { html } from "htm/preact";
import { liveJson, liveText } from "../live_file.js";
import { Approvals } from "./parts/approvals.js";
import { notYet } from "./parts/card.js";
import { DoBox, INPUT } from "./parts/do_box.js";
import { Fleet } from "./parts/fleet.js";
import { may } from "./parts/may.js";
import { History, Queue } from "./parts/queue.js";
import { Robots } from "./parts/robots.js";
import { Sessions } from "./parts/sessions.js";
import { partSheet } from "./parts/sheet.js";
import { Lessons, TaskBoard, lessonLines } from "./parts/task_board.js";
import { texts } from "./parts/work_texts.js";

export { texts };

function View({ world }) {
  partSheet();
  const file = liveJson(world, "/meta/status.json").value;
  const wait = notYet(file);
  if (wait) return wait;
  const status = file.value, nodes = status.nodes || [], robots = nodes.map((node) => node.id);
  const project = (status.workspace || "").split("/").at(-1) || "main";
  const lessons = lessonLines(liveText(world, `/projects/${project}/LESSONS.md`).value.value || "");
  return html`<div class="parts">
    ${may(world, INPUT) && html`<${DoBox} world=${world} robots=${robots} />`}
    <div class="column">
      <${Robots} world=${world} nodes=${nodes} />
      <${Queue} world=${world} status=${status} lessons=${lessons} />
      <${Approvals} world=${world} robots=${robots} />
      <${TaskBoard} world=${world} project=${project} />
      <${Fleet} world=${world} project=${project} />
    </div>
    <div class="column">
      <${History} world=${world} status=${status} robots=${robots} lessons=${lessons} />
      <${Lessons} world=${world} project=${project} />
      <${Sessions} world=${world} project=${project} />
    </div>
  </div>`;
}

export const panel = { id: "work", title: "work.title", View };

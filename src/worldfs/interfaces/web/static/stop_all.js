import { signal } from "@preact/signals";
import { asNow } from "./connection.js";

// Stops: seeing a robot is enough to stop it. What is known of the last one, until a person dismisses it.

const TOLD_MS = 1000; // a server that has not taken a stop by then is told as one that does not answer
const CONFIRM_MS = 3000, LOOK_MS = 100; // for the drivers to confirm that their robots stand
const AGAIN_MS = 1000; // later, as long as it is shown: a robot is resumed, or confirms late

// {kind: "running" | "undelivered" | "none" | "over", robots: [{id, told, stopped, confirmed, why}], why}; null: none.
export const lastStop = signal(null);
let number = 0; // of the last stop: an earlier one says nothing more

// One robot, or every one that this token sees. A stop that the server has not taken is "undelivered" at once, and
// stays that until it has: it is sent as soon as the server answers.
export async function stopRobots(world, id = null) {
  const mine = ++number, say = (value) => { if (mine === number) lastStop.value = { robots: [], why: "", ...value }; };
  const taken = say_undelivered(world, say);
  try {
    const nodes = id === null ? await robots(world) : [id];
    const told = await Promise.all(nodes.map((node) => tell(world, node)));
    taken();
    if (!nodes.length) return say({ kind: "none" });
    const end = Date.now() + CONFIRM_MS;
    for (;;) {
      const found = await Promise.all(told.map((one) => one.told ? ask(world, one.id) : one));
      say({ kind: "over", robots: found });
      const settled = found.every((one) => one.confirmed || !one.told) || Date.now() >= end;
      await new Promise((resolve) => setTimeout(resolve, settled ? AGAIN_MS : LOOK_MS));
      if (mine !== number || lastStop.value === null) return; // another stop, or a person has dismissed it
    }
  } catch (error) { taken(); say({ kind: "undelivered", why: error.message }); }
}

// Returns the function that ends it: the server has taken the stop.
function say_undelivered(world, say) {
  const undelivered = () => say({ kind: "undelivered" });
  let timer = 0;
  if (world.state.value === "open") { say({ kind: "running" }); timer = setTimeout(undelivered, TOLD_MS); } else undelivered();
  const forget = world.state.subscribe((state) => { if (state !== "open") undelivered(); });
  return () => { clearTimeout(timer); forget(); };
}

async function tell(world, id) {
  for (;;) {
    try { await world.write(asNow(`/nodes/${id}/stop`), "stop\n"); return { id, told: true }; }
    catch (error) {
      if (!UNANSWERED.has(error.code)) return { id, told: false, confirmed: false, why: error.message };
      await world.whenOpen();
    }
  }
}

// Whether the robot is stopped still, and what its driver has confirmed by now. What cannot be read confirms nothing.
async function ask(world, id) {
  try {
    const { stopped, delivered, confirmed, why } = await world.readJson(asNow(`/nodes/${id}/stop`), { signal: AbortSignal.timeout(CONFIRM_MS) });
    return { id, told: delivered !== false || stopped === false, stopped: stopped !== false, confirmed: stopped === true && confirmed === true, why: why || "" };
  } catch (error) { return { id, told: true, stopped: true, confirmed: false, why: error.message }; }
}

async function robots(world) {
  for (;;) {
    try {
      const entries = await world.list(asNow("/nodes"));
      const found = await Promise.all(entries.filter((entry) => entry.kind === "dir").map(async ({ name }) => {
        try { await world.stat(asNow(`/nodes/${name}/stop`)); return name; }
        catch (error) { if (UNANSWERED.has(error.code)) throw error; return null; }
      }));
      return found.filter(Boolean);
    } catch (error) {
      if (!UNANSWERED.has(error.code)) throw error;
      await world.whenOpen();
    }
  }
}

const UNANSWERED = new Set(["connection_lost", "timeout"]);

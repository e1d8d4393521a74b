// The scene's files as calls: geometry whenever it is another one, each frame of poses, the plan and the contacts while
// they are asked for. It draws nothing and knows no three.js.
import { decodeFrame } from "./pose_frames.js";

const AGAIN_MS = 4000; // after an error
const PLAN_MS = 800, CONTACTS_MS = 150; // at least, between two looks while something moves
const REST_MS = 500; // without a frame: what stands still is looked at once more

// see: {geometry(value), frame(frame), plan(value), contacts(value), failed(error)}. `wants()`: {plan, contacts}.
export async function watchScene(world, base, see, wants, signal) {
  while (!signal.aborted) {
    try { await (world.at.value === null ? watchNow : showPast)(world, base, see, wants, signal); return; }
    catch (error) {
      if (signal.aborted) return;
      if (error.code !== "connection_lost") see.failed(error);
      if (world.at.value !== null && error.code !== "connection_lost") return; // the past stays as it is
      await pause(AGAIN_MS, signal);
    }
  }
}

async function showPast(world, base, see, wants, signal) {
  see.geometry(await world.readJson(`${base}/geometry.json`, { signal }));
  see.frame(decodeFrame(await world.read(`${base}/poses`, { signal })));
  see.plan({});
  see.contacts({});
}

async function watchNow(world, base, see, wants, signal) {
  let revision = null;
  const describe = async () => { const value = await world.readJson(`${base}/geometry.json`, { signal }); revision = value.revision; see.geometry(value); };
  await describe();
  const beside = besides(world, base, see, wants, signal);
  for await (const data of world.stream(`${base}/poses`, { signal })) {
    const frame = decodeFrame(data);
    if (frame.revision !== revision) await describe();
    if (frame.revision !== revision) continue; // it changed again: the next frame is whole
    see.frame(frame);
    beside();
  }
}

// Plan and contacts: looked at while frames come, and once more when they have ended; a plan until there is none, for an
// order may end when nothing has moved for long.
function besides(world, base, see, wants, signal) {
  const looked = {}, said = {}, values = {};
  let timer = 0;
  const look = async (name, every, last = false) => {
    if (!wants()[name] || !last && performance.now() - (looked[name] ?? -every) < every) return;
    looked[name] = performance.now();
    try {
      const text = await world.readText(`${base}/${name}.json`, { signal });
      if (text === said[name] || signal.aborted) return;
      said[name] = text;
      values[name] = JSON.parse(text);
      see[name](values[name]);
    } catch { /* the poses say what is wrong */ }
  };
  const both = (last) => Promise.all([look("plan", PLAN_MS, last), look("contacts", CONTACTS_MS, last)]);
  const rest = async () => {
    await both(true);
    clearTimeout(timer);
    if (values.plan?.robots.length && !signal.aborted) timer = setTimeout(rest, PLAN_MS);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  return () => {
    both(false);
    clearTimeout(timer);
    timer = setTimeout(rest, REST_MS);
  };
}

function pause(ms, signal) {
  return new Promise((resolve) => { const timer = setTimeout(resolve, ms); signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true }); });
}

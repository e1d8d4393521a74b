// When the files of the tree were changed: the listings of /versions, as one line of moments.
import { asNow } from "../connection.js";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const FILE = /\.[A-Za-z]+$/;
const SKIPPED = new Set(["self", "mother", "jobs", "artifacts", "fs", "services", "inbox", "body", "meta", "agents", "nodes", "chat"]);
const ROOTS = ["/projects", "/nodes", "/agents"];
const FILES = 200; // files whose versions are listed
const TOGETHER_MS = 120; // changes as close as this are one moment: the end of an action writes several files

// Resolves to {moments: [{time, ms, changes: [{path, time, size}]}] oldest first, files, error, cut}.
export async function findMoments(world, signal) {
  const files = [], changes = [];
  let error = null;
  const listed = async (path) => {
    try { return await world.list(asNow(`/versions${path}`)); }
    catch (wrong) { if (wrong.code === "connection_lost") throw wrong; error = error || wrong; return []; }
  };
  const visit = async (path, depth) => {
    const entries = await listed(path);
    await Promise.all(entries.map(({ name }) => {
      if (FILE.test(name)) { if (name !== "README.md" && files.length < FILES) files.push(`${path}/${name}`); return null; }
      return depth > 0 && !SKIPPED.has(name) ? visit(`${path}/${name}`, depth - 1) : null;
    }));
  };
  await Promise.all(ROOTS.map((root) => visit(root, root === "/projects" ? 2 : 1)));
  if (signal?.aborted) return null;
  files.sort();
  await Promise.all(files.map(async (path) => {
    for (const { name, size } of await listed(path)) if (TIME.test(name)) changes.push({ path, time: name, ms: Date.parse(name), size });
  }));
  return { moments: gather(changes), files: files.filter((path) => changes.some((one) => one.path === path)), error: changes.length ? null : error, cut: files.length >= FILES };
}

export function gather(changes) {
  const moments = [];
  for (const change of [...changes].sort((one, other) => one.time < other.time ? -1 : 1)) {
    const last = moments.at(-1);
    if (last && change.ms - last.ms <= TOGETHER_MS) { last.changes.push(change); last.time = change.time; last.ms = change.ms; }
    else moments.push({ time: change.time, ms: change.ms, changes: [change] });
  }
  return moments;
}

// The place of a time in the line: the last moment not after it; -1: before all of them.
export function placeOf(moments, time) {
  const ms = Date.parse(time);
  let at = -1;
  moments.forEach((moment, n) => { if (moment.time <= time || moment.ms < ms) at = n; });
  return at;
}

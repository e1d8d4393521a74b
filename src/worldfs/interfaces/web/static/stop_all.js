import { asNow } from "./connection.js";

// The red button: stops every robot that this token sees. Seeing a robot is enough to stop it.

// Resolves to {stopped: [ids], failed: [{id, error}]}. Every robot is asked at once; none waits for another.
export async function stopAll(world) {
  const nodes = await robots(world);
  const results = await Promise.allSettled(nodes.map((id) => world.write(asNow(`/nodes/${id}/stop`), "stop\n")));
  const failed = results.flatMap((result, at) => result.status === "rejected" ? [{ id: nodes[at], error: result.reason }] : []);
  return { stopped: nodes.filter((id) => !failed.some((one) => one.id === id)), failed };
}

async function robots(world) {
  const entries = await world.list(asNow("/nodes"));
  const found = await Promise.all(entries.filter((entry) => entry.kind === "dir").map(async ({ name }) => {
    try { await world.stat(asNow(`/nodes/${name}/stop`)); return name; } catch { return null; }
  }));
  return found.filter(Boolean);
}

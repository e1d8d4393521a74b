// Whether the token may write a file, as the tree's own stat says it. Nothing is offered before that is known.
import { signal } from "@preact/signals";

const known = new WeakMap(); // world → Map of path → signal

export function may(world, path) {
  if (world.at.value !== null) return false; // the past cannot be written
  if (!known.has(world)) known.set(world, new Map());
  const paths = known.get(world), key = `${world.may.value.role}/${world.may.value.agent} ${path}`;
  if (!paths.has(key)) {
    const found = signal(false);
    paths.set(key, found);
    world.stat(path).then((entry) => { found.value = Boolean(entry.writable); }, () => { paths.delete(key); });
  }
  return paths.get(key).value;
}

// Files as signals: {value, error, loading}. Shared by all who look at one path, and released when nobody does.
import { signal } from "@preact/signals";

const KEPT_MS = 3000; // a path that is looked at again at once, by the next panel, is not asked for anew
const shared = new WeakMap(); // world → Map of key → live file

const decoder = new TextDecoder("utf-8");
const READINGS = {
  text: (data) => decoder.decode(data),
  json: (data) => JSON.parse(decoder.decode(data)),
  list: (entries) => entries,
  bytes: (data) => data,
};

export const liveText = (world, path) => live(world, path, "text");
export const liveJson = (world, path) => live(world, path, "json");
export const liveList = (world, path) => live(world, path, "list");
export const liveBytes = (world, path) => live(world, path, "bytes");

// The signal; it follows the file as long as an effect or a component reads it.
function live(world, path, reading) {
  if (!shared.has(world)) shared.set(world, new Map());
  const files = shared.get(world), key = `${reading} ${path}`;
  const found = files.get(key);
  if (found) return found;
  let end = null, timer = 0;
  const made = signal({ value: undefined, error: null, loading: true }, {
    watched() {
      clearTimeout(timer);
      if (!end) end = world.follow(path, (data, error) => { made.value = valueOf(data, error, reading, made.peek()); });
    },
    unwatched() {
      timer = setTimeout(() => { end?.(); end = null; files.delete(key); }, KEPT_MS);
    },
  });
  files.set(key, made);
  return made;
}

function valueOf(data, error, reading, before) {
  if (error) return { value: before.value, error, loading: false };
  try { return { value: READINGS[reading](data), error: null, loading: false }; }
  catch (wrong) { return { value: before.value, error: wrong, loading: false }; }
}

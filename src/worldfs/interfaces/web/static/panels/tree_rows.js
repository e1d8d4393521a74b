// The table of files (/meta/SCHEMA.json): what each file is, who writes it, and whether its read waits.
import { signal } from "@preact/signals";
import { asNow, segments } from "../connection.js";

const tables = new WeakMap(); // world → signal of rows, the most exact pattern first

// The row of a path; null where the table does not know it, or is not read yet.
export function rowOf(world, path) {
  const names = segments(path);
  return tableOf(world).value.find((row) => matches(row.names, names)) || null;
}

function tableOf(world) {
  if (!tables.has(world)) {
    const table = signal([]);
    tables.set(world, table);
    world.readJson(asNow("/meta/SCHEMA.json")).then((found) => { table.value = sorted(found.files || []); }, () => tables.delete(world));
  }
  return tables.get(world);
}

function sorted(rows) {
  const open = (row) => row.names.filter((name) => name.startsWith("{")).length + (row.names.at(-1)?.endsWith("*}") ? 9 : 0);
  return rows.map((row) => ({ ...row, names: segments(row.path) })).sort((one, other) => open(one) - open(other));
}

function matches(pattern, names) {
  const rest = pattern.at(-1)?.endsWith("*}");
  if (rest ? names.length < pattern.length : names.length !== pattern.length) return false;
  return pattern.every((part, at) => part.startsWith("{") || part === names[at]);
}

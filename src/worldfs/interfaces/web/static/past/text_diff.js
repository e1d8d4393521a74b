// Two texts by lines, as [["=" | "+" | "-", line], …]; null where they are too long to compare.

const LINES = 800;

export function diffLines(before, after) {
  const old = before.split("\n"), now = after.split("\n");
  if (old.length > LINES || now.length > LINES) return null;
  const length = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      length[i][j] = old[i] === now[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const found = [];
  let i = 0, j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) { found.push(["=", now[j]]); i++; j++; }
    else if (j < now.length && (i === old.length || length[i][j + 1] > length[i + 1][j])) found.push(["+", now[j++]]);
    else found.push(["-", old[i++]]);
  }
  return found;
}

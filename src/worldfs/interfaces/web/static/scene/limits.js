// Where robots may work at all, as their EMBODIED.md says; read while somebody wants to see it.
import { useEffect } from "preact/hooks";
import { liveText } from "../live_file.js";

const BOUNDS = /Workspace Bounds\W{0,20}x ∈ \[([^[\]]{1,60})\], y ∈ \[([^[\]]{1,60})\], z ∈ \[([^[\]]{1,60})\]/;

export function Limits({ world, robots, viewer, drawing }) {
  const found = robots.slice(0, 12).map(({ id }) => boundsOf(liveText(world, `/nodes/${id}/EMBODIED.md`).value.value || "")).filter(Boolean);
  const key = JSON.stringify(found);
  useEffect(() => { viewer.current?.setBounds(found); return () => viewer.current?.setBounds([]); }, [key, drawing]);
  return null;
}

// {low, high} in metres; null where none are written.
export function boundsOf(text) {
  const axes = BOUNDS.exec(text)?.slice(1).map((pair) => pair.split(",").map(Number));
  if (!axes || axes.some((pair) => pair.length !== 2 || !pair.every(Number.isFinite))) return null;
  return { low: axes.map(([low]) => low), high: axes.map(([, high]) => high) };
}

// The scene as values: what there is and where, for words and for a viewer that comes later. No three.js.
import { signal } from "@preact/signals";

const MOST = 120; // characters of a name
const STILL_MS = 700; // without a frame: nothing moves
const WORDS_MS = 400; // between two changes of the list

export class SceneModel {
  state = signal({ ready: false, error: null });
  moving = signal(false);
  things = signal([]); // [{id, name, kind, index, position}]
  geometry = null; robots = [];
  #rows = new Map(); #last = { number: 0, time: 0 }; #still = 0; #words = 0;

  describe(geometry) {
    this.geometry = geometry;
    this.robots = geometry.robots || [];
    this.#rows.clear();
  }

  move(frame) {
    const first = this.#rows.size === 0;
    for (const row of frame.rows) this.#rows.set(row.index, row);
    this.#last = frame;
    if (!this.state.value.ready || this.state.value.error) this.state.value = { ready: true, error: null };
    if (first) { this.#say(); return; }
    if (!frame.rows.length) return;
    this.moving.value = true;
    clearTimeout(this.#still);
    this.#still = setTimeout(() => { this.moving.value = false; this.#say(); }, STILL_MS);
    this.#words ||= setTimeout(() => this.#say(), WORDS_MS);
  }

  fail(error) {
    this.state.value = { ready: false, error };
    this.describe({ bodies: [] });
    this.#say();
  }

  // One frame with everything.
  whole() { return { ...this.#last, rows: [...this.#rows.values()] }; }

  #say() {
    clearTimeout(this.#words);
    this.#words = 0;
    this.things.value = thingsOf(this.geometry.bodies).map((thing) => ({ ...thing, position: this.#rows.get(thing.index)?.position || [0, 0, 0] }));
  }
}

// One entry a robot, an object and a piece of furniture, at its first body.
export function thingsOf(bodies) {
  const seen = new Set(), found = [];
  bodies.forEach(({ id, name, kind }, index) => {
    if (!id || seen.has(id)) return;
    seen.add(id);
    found.push({ id, name: String(name || id).slice(0, MOST), kind, index });
  });
  return found;
}

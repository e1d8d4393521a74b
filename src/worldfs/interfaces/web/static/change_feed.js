// What the panels follow, as one selection of the server's change feed: events/control/wait.json says which paths, and
// reading events/next.json blocks until one of them has changed.

const WAIT = "/agents/self/events/control/wait.json";
const NEXT = "/agents/self/events/next.json";
const GATHER_MS = 60; // changes that come together are one look
const BETWEEN_MS = 120; // at least, between two looks at one path
const RETRY_MS = 2000;
const RECHECK_MS = 30000; // a computed file may change without a report
const UNTOLD_MS = 3000; // other processes write the files of an agent, a camera its pictures, and nothing reports it
const ASLEEP_MS = 30000; // hidden for longer: everything is read again
const MOST = 400; // paths of one selection

export class ChangeFeed {
  #world; #followed = new Map(); #selected = ""; #since = "now"; #turning = false; #selecting = 0; #written = false; #hidden = 0; #paused = false;

  constructor(world) {
    this.#world = world;
    setInterval(() => this.#recheck(), UNTOLD_MS);
    world.at.subscribe(() => this.#all());
  }

  get size() { return this.#followed.size; }

  follow(path, fn, signal) {
    let item = this.#followed.get(path);
    if (!item) {
      item = { path, watch: path, fns: new Set(), busy: false, dirty: false, timer: 0, looked: 0, value: undefined, error: null };
      this.#followed.set(path, item);
      this.#reselect();
    } else if (item.value !== undefined || item.error) fn(item.value ?? null, item.error);
    item.fns.add(fn);
    const end = () => {
      item.fns.delete(fn);
      if (item.fns.size === 0 && this.#followed.get(path) === item) {
        clearTimeout(item.timer);
        this.#followed.delete(path);
        this.#reselect();
      }
    };
    if (signal?.aborted) { end(); return end; }
    signal?.addEventListener("abort", end);
    if (item.value === undefined) this.#later(item, 0);
    return end;
  }

  // After a reconnect: the server knows nothing of this connection, and anything may have changed.
  resume() {
    this.#selected = "";
    this.#written = false;
    this.#since = "now";
    this.#reselect();
    this.#all();
    if (!this.#turning) this.#turn();
  }

  sleep() { this.#hidden = Date.now(); setTimeout(() => { if (this.#hidden && Date.now() - this.#hidden >= ASLEEP_MS) this.#paused = true; }, ASLEEP_MS + 50); }

  wake() {
    const long = this.#hidden && Date.now() - this.#hidden > ASLEEP_MS;
    this.#hidden = 0;
    this.#paused = false;
    if (long) { this.resume(); return; }
    for (const item of this.#followed.values()) if (item.dirty) this.#later(item, 0);
  }

  #all() { for (const item of this.#followed.values()) this.#later(item, 0); }

  #recheck() {
    if (this.#world.state.value === "open" && this.#world.at.value === null && !this.#paused && !this.#hidden)
      for (const item of this.#followed.values()) if (performance.now() - item.looked > recheckAfter(item.path)) this.#later(item, 0);
  }

  #later(item, ms = GATHER_MS) {
    item.dirty = true;
    if (item.timer || item.busy || this.#paused) return;
    const wait = Math.max(ms, BETWEEN_MS - (performance.now() - item.looked));
    item.timer = setTimeout(() => { item.timer = 0; this.#look(item); }, item.looked ? wait : ms);
  }

  async #look(item) {
    if (item.busy || this.#world.state.value === "refused") return;
    item.busy = true;
    item.dirty = false;
    const at = this.#world.at.value;
    try { item.value = await this.#world.look(item.path); item.error = null; }
    catch (error) {
      if (error.code === "connection_lost") item.dirty = true;
      else { item.value = null; item.error = error; }
    }
    item.busy = false;
    item.looked = performance.now();
    if (this.#world.at.value !== at) item.dirty = true;
    else if (item.value !== undefined) for (const fn of [...item.fns]) fn(item.value, item.error);
    if (item.dirty && this.#world.state.value === "open") this.#later(item);
  }

  // -- the selection

  #reselect() {
    if (this.#selecting) return;
    this.#selecting = setTimeout(() => { this.#selecting = 0; this.#select().catch(() => {}); }, 20);
  }

  async #select() {
    if (this.#world.state.value !== "open" || this.#world.at.value !== null) return;
    const paths = this.#paths();
    const wanted = JSON.stringify(paths);
    if (wanted === this.#selected || paths.length === 0) return;
    const before = this.#selected;
    this.#selected = wanted;
    try { await this.#write(paths); }
    catch (error) {
      this.#selected = before;
      if (error.code === "connection_lost") return;
      await this.#climb(); // a path that is not there cannot be selected: its nearest directory is
      const found = this.#paths();
      this.#selected = JSON.stringify(found);
      await this.#write(found).catch(() => { this.#selected = ""; });
    }
    if (before === "") for (const item of this.#followed.values()) this.#later(item); // changed between look and selection
    else for (const item of this.#followed.values()) if (!before.includes(JSON.stringify(item.watch))) this.#later(item);
    if (!this.#turning) this.#turn();
  }

  async #write(paths) {
    await this.#world.write(WAIT, JSON.stringify({ paths, kind: "changes", since: this.#since, timeout_ms: 60000 }));
    this.#written = true;
  }

  #paths() {
    const all = [...new Set([...this.#followed.values()].map((item) => item.watch))].sort();
    const top = all.filter((path) => !all.some((other) => other !== path && other !== "/" && path.startsWith(other + "/")));
    return top.slice(0, MOST);
  }

  async #climb() {
    await Promise.all([...this.#followed.values()].map(async (item) => {
      let path = item.path;
      while (path !== "/") {
        try { await this.#world.stat(path); break; } catch (error) { if (error.code === "connection_lost") return; }
        path = path.slice(0, path.lastIndexOf("/")) || "/";
      }
      item.watch = path === "/" && item.path !== "/" ? "/" + item.path.split("/")[1] : path;
      if (item.watch !== "/" ) try { await this.#world.stat(item.watch); } catch { item.watch = "/meta"; }
    }));
  }

  async #turn() {
    this.#turning = true;
    const world = this.#world;
    try {
      while (world.state.value === "open" && this.#followed.size) {
        if (!this.#written) { await pause(50); if (!this.#selected && !this.#selecting) break; continue; }
        try {
          const data = await world.next(NEXT);
          const event = JSON.parse(new TextDecoder().decode(data));
          if (event.configured === false) { this.#selected = ""; this.#written = false; this.#reselect(); await pause(RETRY_MS / 4); continue; }
          if (event.waiting) continue;
          this.#since = event.seq ?? this.#since;
          const change = event.change || {};
          this.#changed(change.paths || [change.path || event.event_path || ""]);
        } catch (error) {
          if (error.code === "connection_lost" || world.state.value !== "open") break;
          await pause(RETRY_MS);
        }
      }
    } finally { this.#turning = false; }
  }

  #changed(paths) {
    for (const item of this.#followed.values()) if (paths.some((path) => touches(path, item))) this.#later(item);
  }
}

// Whether a change of `path` may change what is shown of an item. The listing of a directory changes with its own names
// and with what is said of them, so not with what happens deeper below a name that it has.
function touches(path, item) {
  if (below(item.path, path)) return true;
  if (!below(path, item.path)) return item.watch !== item.path && below(path, item.watch);
  if (!Array.isArray(item.value)) return true;
  const [name, ...deeper] = path.slice(item.path === "/" ? 1 : item.path.length + 1).split("/");
  return deeper.length === 0 || !item.value.some((entry) => entry.name === name);
}

const UNTOLD = /^\/agents\/(?!self(\/|$))|\/artifacts\/camera(\/[^/.]+)?$/; // of a camera its directory, and not its pictures

function recheckAfter(path) { return UNTOLD.test(path) ? UNTOLD_MS / 2 : RECHECK_MS; }

export function below(path, above) { return above === "/" || path === above || path.startsWith(above + "/"); }

function pause(ms) { return new Promise((resolve) => setTimeout(resolve, ms)); }

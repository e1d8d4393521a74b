// The client: one connection of one token, which survives reconnects. Every panel reads and writes the tree through it.
import { signal } from "@preact/signals";
import { Socket, fromBase64, toBase64 } from "./socket.js";
import { WorldError, lost } from "./world_error.js";
import { ChangeFeed } from "./change_feed.js";

export { WorldError };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8");
const EXTENSIONS = ["create", "stage", "stats", "truncate", "remove", "rename", "attributes", "revision", "why", "repeat", "person"];
const ROOT = 1;
const PIECE = 524288; // bytes of one read or write: below any server's frame
const LARGEST = 64 * 1024 * 1024; // bytes that a read of the page takes at most
const AT_ONCE = 24; // requests under way; more wait here
const QUEUE = 4000; // waiting requests; more are refused
const FIRST_MS = 250, MOST_MS = 10000; // between two attempts to connect
const PING_MS = 20000, PONG_MS = 8000; // a connection that is dead without a sign
const WAIT_MS = 30000; // one blocking read
const REPEAT = 30; // frames of a stream that one read is answered with: a page that is slow is no further behind
const PAUSE_MS = 200; // between two reads of a file that does not block after all

export class World {
  state = signal("connecting"); // "connecting" | "open" | "lost" | "refused"
  may = signal({ role: "", agent: "", person: "", project: "", extensions: [], write: false });
  at = signal(null); // an ISO time: paths are read as they were then, and nothing is written
  error = signal(null); // why it is lost or refused
  since = signal(0); // ms: when the connection was lost; what is shown is as old
  #url; #token; #socket = null; #fid = ROOT; #freed = []; #running = 0; #queue = []; #pause = FIRST_MS; #timer = 0;
  #ping = 0; #closed = false; #ready = null; #readyDone = null; #largest = PIECE;

  constructor({ url = addressOfServer(), token }) {
    this.#url = url;
    this.#token = token;
    this.feed = new ChangeFeed(this);
    this.#await();
    this.#open();
    globalThis.addEventListener?.("online", () => this.hurry());
    globalThis.document?.addEventListener("visibilitychange", () => this.#seen());
  }

  // -- reading

  async list(path) {
    return this.#withFid(path, async (fid, { signal }) => {
      const data = await this.#readAll(fid, { stats: true, limit: LARGEST, signal }, "dir");
      const text = decoder.decode(data);
      return text ? text.split("\n").map(entryOf) : [];
    });
  }

  async stat(path) {
    return this.#withFid(path, async (fid, { socket, entered }) => {
      const answer = socket.ask("stat", { fid });
      answer.catch(() => {}); // where the walk fails, its error is the one
      await entered;
      return entryOf(await answer);
    });
  }

  async read(path, { limit = LARGEST, signal, wait = 0 } = {}) {
    return this.#withFid(path, (fid, context) => this.#readAll(fid, { limit, wait, signal, ...context }, "file"), signal);
  }

  async readText(path, options) { return decoder.decode(await this.read(path, options)); }
  async readJson(path, options) { return JSON.parse(await this.readText(path, options)); }

  // A file that blocks until it has something new: yields its content each time. Lost connections are bridged.
  async *waits(path, { signal } = {}) {
    let before = null;
    while (!signal?.aborted) {
      let data = null;
      const begun = performance.now();
      try {
        data = await this.#withFid(path, (fid, context) => this.#readAll(fid, { ...context, wait: before ? WAIT_MS : 0, blocks: true, limit: LARGEST, signal }, "file"), signal, true);
      } catch (error) {
        if (signal?.aborted) return;
        if (error.code !== "connection_lost" && error.code !== "timeout" && error.code !== "eintr") throw error;
        await this.whenOpen(signal);
        continue;
      }
      const same = before !== null && same_bytes(before, data);
      before = data;
      if (!same) yield data;
      else if (performance.now() - begun < PAUSE_MS) await sleep(PAUSE_MS, signal);
    }
  }

  // A file that tells each reader what is new since its own last read: one fid as long as the connection holds, so the
  // first content after a reconnect is whole. Ends with `signal`.
  async *stream(path, { signal } = {}) {
    while (!signal?.aborted) {
      try { yield* this.#streamed(path, signal); }
      catch (error) {
        if (signal?.aborted) return;
        if (error.code !== "connection_lost" && error.code !== "timeout" && error.code !== "eintr") throw error;
      }
    }
  }

  async *#streamed(path, signal) {
    await this.whenOpen(signal);
    const socket = this.#socket, fid = this.#freed.pop() ?? ++this.#fid;
    try {
      await socket.ask("walk", { fid: ROOT, newfid: fid, path: segments(path) }, { signal });
      await socket.ask("open", { fid, mode: "r" }, { signal });
      const fields = { fid, offset: 0, count: PIECE, wait_ms: WAIT_MS, repeat: REPEAT };
      while (!signal?.aborted) for await (const answer of socket.answers("read", fields, { signal })) yield fromBase64(answer.data_b64 || "");
    } finally { this.#drop(socket, fid).catch(() => {}); }
  }

  // Calls fn(value, error) at once, and again after each change that the server reports, also after a reconnect.
  // value: the bytes of a file, the entries of a directory; null with an error. Returns the function that ends it.
  follow(path, fn, { signal } = {}) { return this.feed.follow(path, fn, signal); }

  // The next event of the change feed: one blocking read. For change_feed.js.
  async next(path) {
    return this.#withFid(path, (fid, context) => this.#readAll(fid, { ...context, wait: WAIT_MS, blocks: true, limit: PIECE }, "file"), undefined, true);
  }

  // What is at a path, of whatever kind.
  async look(path) {
    const entry = await this.stat(path);
    return entry.kind === "dir" ? this.list(path) : this.read(path);
  }

  // -- writing

  // The whole content, durable when it returns. `base`: the revision that was read; where the file has another one
  // meanwhile, nothing is written (code "conflict"). Returns {n, job?, result_path?, revision?}.
  async write(path, text, { base, create = false, signal } = {}) {
    if (this.at.value !== null && !path.startsWith("//")) throw new WorldError("erofs", "the past cannot be written");
    const data = typeof text === "string" ? encoder.encode(text) : text;
    const guard = base === undefined ? {} : { revision: base };
    if (base !== undefined && !this.may.value.extensions.includes("revision"))
      throw new WorldError("unsupported", "this server compares no revisions");
    return this.#withFid(path, async (fid, { socket, entered }) => {
      await entered;
      const whole = data.length <= this.#largest;
      await socket.ask("open", { fid, mode: "w", ...(whole ? { truncate: true } : { stage: true }), ...guard });
      if (whole) return socket.ask("write", { fid, offset: 0, data_b64: toBase64(data), ...guard }, { signal, wait: true });
      for (let at = 0; at < data.length; at += PIECE)
        await socket.ask("write", { fid, offset: at, data_b64: toBase64(data.subarray(at, at + PIECE)) }, { signal });
      return { n: data.length, staged: true };
    }, signal, false, create);
  }

  async remove(path) {
    const [above, name] = split(path);
    return this.#withFid(above, async (fid, { socket, entered }) => { await entered; await socket.ask("remove", { fid, path: [name] }); });
  }

  // An operation of the control channel; see docs/reference.
  async control(op, payload) { return (await this.#socketNow()).control(op, payload); }

  // -- life

  close() {
    this.#closed = true;
    clearTimeout(this.#timer); clearInterval(this.#ping);
    this.#socket?.close();
  }

  // Reconnect now instead of at the end of the pause; an attempt that is under way goes on.
  hurry() {
    if (this.#timer) { this.#pause = FIRST_MS; this.#open(); }
  }

  // Another token for the same world: what is shown stays, and is read again.
  signIn(token) {
    this.#token = token;
    this.#pause = FIRST_MS;
    this.#socket?.close();
    this.#open();
  }

  get traffic() { return { in: this.#socket?.bytesIn || 0, out: this.#socket?.bytesOut || 0 }; }

  whenOpen(signal) {
    return Promise.race([this.#ready, new Promise((_, reject) =>
      signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))))]);
  }

  #await() { this.#ready = new Promise((resolve) => { this.#readyDone = resolve; }); }

  #open() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#closed) return;
    this.state.value = this.state.value === "open" ? "lost" : this.state.value === "lost" ? "lost" : "connecting";
    const socket = new Socket(this.#url, this.#token, {
      onOpen: (opened) => this.#greet(opened).catch((error) => this.#fail(opened, error)),
      onEnd: (error, refused) => { if (this.#socket === socket) this.#ended(error, refused); },
    });
    this.#socket = socket;
  }

  async #greet(socket) {
    await socket.control("version", { protocol: "unified-v2" });
    let who = await socket.control("connect");
    const session = await socket.control("session_status").catch(() => ({}));
    const agreed = await socket.ask("version", { msize: 1048576, version: "acheron-1", extensions: EXTENSIONS });
    await socket.ask("attach", { fid: ROOT });
    this.#fid = ROOT; this.#freed = [];
    this.#largest = Math.min(PIECE, Math.floor(((agreed.msize || 8192) - 512) * 3 / 4));
    this.may.value = {
      role: who.role || "", agent: who.agent_id || "", person: agreed.person || "", project: session.project_id || "",
      extensions: agreed.extensions || [], write: who.role === "admin",
    };
    this.error.value = null;
    this.since.value = 0;
    this.#pause = FIRST_MS;
    this.state.value = "open";
    this.#readyDone();
    clearInterval(this.#ping);
    this.#ping = setInterval(() => this.#check(PONG_MS), PING_MS);
    this.feed.resume();
    this.#pump();
  }

  #fail(socket, error) {
    if (this.#socket !== socket) return;
    const refused = error.code !== "connection_lost" && error.code !== "timeout";
    socket.close();
    if (refused) this.#refuse(error);
  }

  #ended(error, refused) {
    clearInterval(this.#ping);
    if (this.state.value === "open") { this.since.value = Date.now(); this.#await(); }
    if (refused) { this.#refuse(error); return; }
    if (this.state.value === "refused" || this.#closed) return;
    this.error.value = error;
    this.state.value = this.state.value === "connecting" ? "connecting" : "lost";
    if (this.since.value === 0) this.since.value = Date.now();
    this.#timer = setTimeout(() => this.#open(), this.#pause * (0.75 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, MOST_MS);
    if (this.#pause > FIRST_MS * 4 && this.state.value === "connecting") this.state.value = "lost";
  }

  #refuse(error) {
    this.error.value = error;
    if (this.since.value === 0) this.since.value = Date.now();
    this.state.value = "refused";
    for (const waiting of this.#queue.splice(0)) waiting.reject(error);
  }

  #check(patience) {
    const socket = this.#socket;
    socket?.control("ping", {}, { timeout: patience }).catch((error) => {
      if (error.code === "timeout" && this.#socket === socket) socket.close();
    });
  }

  #seen() {
    if (document.visibilityState !== "visible") { this.feed.sleep(); return; }
    this.hurry();
    if (this.state.value === "open") this.#check(3000);
    this.feed.wake();
  }

  async #socketNow() {
    if (this.state.value === "refused") throw this.error.value;
    if (this.state.value !== "open") throw lost();
    return this.#socket;
  }

  // -- fids

  // Runs work(fid, {socket, entered, qid}) with a fid that is on its way to `path`, and drops the fid afterwards.
  // `free`: it may wait long, so it is not one of those under way.
  async #withFid(path, work, signal, free = false, create = false) {
    if (!free) await this.#turn();
    const socket = this.#socket;
    try {
      if (this.state.value !== "open") throw this.state.value === "refused" ? this.error.value : lost();
      const fid = this.#freed.pop() ?? ++this.#fid;
      const where = this.#past(path);
      const names = segments(where);
      try {
        const entered = create
          ? this.#createAt(socket, fid, names)
          : socket.ask("walk", { fid: ROOT, newfid: fid, path: names }, { signal });
        entered.catch(() => {});
        const result = await work(fid, { socket, entered, signal });
        if (result?.staged) await this.#drop(socket, fid); // the clunk commits: its error is the write's
        else this.#drop(socket, fid).catch(() => {});
        return result;
      } catch (error) {
        this.#drop(socket, fid).catch(() => {});
        throw error;
      }
    } catch (error) {
      if (error instanceof WorldError && !error.path) error.path = path;
      throw error;
    } finally {
      if (!free) { this.#running -= 1; this.#pump(); }
    }
  }

  async #createAt(socket, fid, names) {
    await socket.ask("walk", { fid: ROOT, newfid: fid, path: names.slice(0, -1) });
    return socket.ask("create", { fid, newfid: fid, path: names.slice(-1) });
  }

  async #drop(socket, fid) {
    if (this.#socket !== socket || this.state.value !== "open") return;
    try { await socket.ask("clunk", { fid }, { wait: true }); }
    finally { if (this.#socket === socket) this.#freed.push(fid); }
  }

  // A path of `asNow` is read and written in the present, whatever moment is shown.
  #past(path) { if (path.startsWith("//")) return path.slice(1); return this.at.value === null ? path : `/at/${this.at.value}${path === "/" ? "" : path}`; }

  async #turn() {
    if (this.#running >= AT_ONCE || this.state.value === "connecting" || this.state.value === "lost") {
      if (this.#queue.length >= QUEUE) throw new WorldError("queue_saturated", "too many requests wait");
      await new Promise((resolve, reject) => this.#queue.push({ resolve, reject }));
    } else this.#running += 1;
  }

  #pump() {
    while (this.#queue.length && this.#running < AT_ONCE && this.state.value === "open") {
      this.#running += 1;
      this.#queue.shift().resolve();
    }
  }

  async #readAll(fid, { socket = this.#socket, entered, stats = false, limit, wait = 0, blocks = false, signal }, kind) {
    const opened = socket.ask("open", { fid, mode: "r" }, { signal });
    const asked = { fid, offset: 0, count: PIECE, ...(blocks && wait ? { wait_ms: wait } : blocks ? {} : { wait_ms: wait }) };
    const first = socket.ask("read", stats ? { ...asked, stats: true } : asked, { signal, wait: blocks || wait > 0 });
    opened.catch(() => {}); first.catch(() => {});
    if (entered) {
      const { qid } = await entered;
      if (qid && qid.type !== kind) throw new WorldError(kind === "dir" ? "enotdir" : "eisdir", kind);
    }
    await opened;
    let answer = await first;
    const pieces = [fromBase64(answer.data_b64 || "")];
    let size = pieces[0].length;
    while (!answer.eof && pieces.at(-1).length && size < limit) {
      answer = await socket.ask("read", { fid, offset: size, count: Math.min(PIECE, limit - size), ...(stats ? { stats: true } : {}) }, { signal });
      pieces.push(fromBase64(answer.data_b64 || ""));
      size += pieces.at(-1).length;
    }
    if (pieces.length === 1) return pieces[0];
    const whole = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) { whole.set(piece, at); at += piece.length; }
    return whole;
  }
}

// -- plain functions

// The path as it is now, also while the past is shown: a stop is no matter of what is looked at.
export const asNow = (path) => `/${path}`;

export function addressOfServer(location = globalThis.location) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`;
}

export function segments(path) { return path.split("/").filter(Boolean); }

export function split(path) {
  const names = segments(path);
  return ["/" + names.slice(0, -1).join("/"), names.at(-1) || ""];
}

function entryOf(line) { return typeof line === "string" ? JSON.parse(line) : line; }

function same_bytes(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

function sleep(ms, signal) {
  return new Promise((resolve) => { const timer = setTimeout(resolve, ms); signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }); });
}

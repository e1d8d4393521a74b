// One WebSocket: requests go out with a tag or an id, replies come back in any order. It does not reconnect: world.js does.
import { WorldError, lost } from "./world_error.js";

const encoder = new TextEncoder();
const ANSWER_MS = 20000; // for a request that does not wait for a change
export const CLOSED_BY_POLICY = 1008;

export function toBase64(bytes) {
  if (bytes.toBase64) return bytes.toBase64();
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

// The token as a subprotocol: a browser can set no header, and an address would stand in logs.
export function protocolsOf(token) {
  const word = toBase64(encoder.encode(token)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return ["acheron", `bearer.${word}`];
}

export class Socket {
  #socket; #tags = new Map(); #ids = new Map(); #tag = 0; #id = 0; #onEnd; #refusal = null; #ended = false;
  bytesIn = 0; bytesOut = 0;

  // onEnd(error, refused): once, however the connection ends. onPush(frame): what the server sends unasked.
  constructor(url, token, { onOpen, onEnd, onPush = () => {} }) {
    this.#onEnd = onEnd;
    this.onPush = onPush;
    this.#socket = new WebSocket(url, protocolsOf(token));
    this.#socket.onopen = () => onOpen(this);
    this.#socket.onmessage = (event) => this.#receive(event.data);
    this.#socket.onclose = (event) => this.#end(event.code, event.reason);
  }

  close() { this.#socket.close(1000); this.#end(1000, "closed"); }

  // A request of the Acheron channel. `wait`: it may block, so no time limit. `signal`: aborting flushes it.
  // onMore(payload): an answer that others follow; the promise is for the last one.
  ask(op, fields = {}, { signal, wait = false, onMore } = {}) {
    const tag = this.#nextTag();
    const answer = this.#expect(this.#tags, tag, wait ? 0 : ANSWER_MS, () => this.#flush(tag), signal, onMore);
    this.#send({ channel: "acheron", type: `acheron.t_${op}`, tag, ...fields });
    return answer;
  }

  // The answers to a request that may have several, each as it comes.
  async *answers(op, fields, { signal } = {}) {
    const come = [];
    let wake = () => {}, ended = false;
    const add = (payload) => { come.push(payload); wake(); };
    const last = this.ask(op, fields, { signal, wait: true, onMore: add }).then(add).finally(() => { ended = true; wake(); });
    last.catch(() => {}); // awaited at the end
    for (;;) {
      while (come.length) yield come.shift();
      if (ended) break;
      await new Promise((resolve) => { wake = resolve; });
    }
    await last;
  }

  control(op, payload = {}, { timeout = ANSWER_MS } = {}) {
    const id = `p${++this.#id}`;
    const answer = this.#expect(this.#ids, id, timeout, () => {}, undefined);
    this.#send({ channel: "control", type: `control.${op}`, id, payload });
    return answer;
  }

  get waiting() { return this.#tags.size + this.#ids.size; }

  #nextTag() {
    do this.#tag = (this.#tag % 0x7fffffff) + 1; while (this.#tags.has(this.#tag));
    return this.#tag;
  }

  #expect(table, key, timeout, onDrop, signal, onMore) {
    return new Promise((resolve, reject) => {
      let timer = 0;
      const settle = (act) => (value) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        act(value);
      };
      const drop = (error) => { if (table.has(key)) { onDrop(); entry.reject(error); entry.dropped = true; } };
      const abort = () => drop(new DOMException("aborted", "AbortError"));
      const entry = { resolve: settle(resolve), reject: settle(reject), onMore, dropped: false };
      if (signal?.aborted) { reject(new DOMException("aborted", "AbortError")); return; }
      if (this.#ended) { reject(lost()); return; }
      table.set(key, entry);
      if (timeout) timer = setTimeout(() => drop(new WorldError("timeout", `no answer within ${timeout / 1000} s`)), timeout);
      signal?.addEventListener("abort", abort);
    });
  }

  // The tag is free again when its request is answered (as in 9P), so no late reply meets a new request.
  #flush(oldtag) {
    if (!this.#ended) this.#send({ channel: "acheron", type: "acheron.t_flush", tag: this.#nextTag(), oldtag });
  }

  #send(frame) {
    if (this.#ended || this.#socket.readyState !== WebSocket.OPEN) return;
    const text = JSON.stringify(frame);
    this.bytesOut += text.length;
    this.#socket.send(text);
  }

  #receive(text) {
    this.bytesIn += text.length;
    let frame;
    try { frame = JSON.parse(text); } catch { return; }
    if (frame.type === "error") { this.#refusal = new WorldError(frame.code, frame.message); return; }
    const [table, key] = frame.tag !== undefined ? [this.#tags, frame.tag] : [this.#ids, frame.id];
    const entry = table.get(key);
    if (!entry) { this.onPush(frame); return; }
    if (frame.payload?.more && entry.onMore) { if (!entry.dropped) entry.onMore(frame.payload); return; }
    table.delete(key);
    if (entry.dropped) return;
    if (frame.error) entry.reject(new WorldError(frame.error.code, frame.error.message));
    else entry.resolve(frame.payload || {});
  }

  #end(code, reason) {
    if (this.#ended) return;
    this.#ended = true;
    const refused = this.#refusal !== null || code === CLOSED_BY_POLICY;
    const why = this.#refusal || lost(reason);
    for (const table of [this.#tags, this.#ids]) {
      for (const entry of table.values()) if (!entry.dropped) entry.reject(lost(reason));
      table.clear();
    }
    this.#onEnd(refused && !this.#refusal ? new WorldError(reason || "refused", reason || "refused") : why, refused);
  }
}

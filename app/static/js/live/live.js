/** The page's end of the event stream, which it shares with the other tabs. */

import { randomId } from "./ids.js";
import { Stream } from "./stream.js";

export class Live {
  #name = randomId(8);
  #url;
  #listeners = new Map(); // name of the event -> Set of listeners
  #stream = null;
  #hello;
  #bye;

  /**
   * `url` of the events, undefined on a page without; `workerUrl` of the script that holds the
   * stream for all tabs. Where the browser has no shared workers the page holds its own.
   */
  constructor(url, workerUrl) {
    if (url === undefined) return;
    this.#url = new URL(url, window.location.href).href;
    if (typeof SharedWorker === "undefined") this.#alone();
    else this.#together(workerUrl);
    this.#hello();
  }

  #together(workerUrl) {
    const worker = new SharedWorker(workerUrl, { type: "module", name: "vitrine-events" });
    worker.port.onmessage = ({ data }) => this.#take(data);
    worker.onerror = () => {
      this.#alone();
      this.#hello();
    };
    this.#hello = () => worker.port.postMessage({ hello: this.#name, url: this.#url });
    this.#bye = () => worker.port.postMessage({ bye: true });
  }

  #alone() {
    const stream = new Stream(this.#url, (news) => this.#take(news));
    this.#hello = () => stream.open();
    this.#bye = () => stream.close();
  }

  #take({ up, lost, down, event, data }) {
    if (up !== undefined) this.#stream = up;
    if (down === true) this.#stream = null;
    if (lost === true) this.#emit("lost");
    if (event !== undefined) this.#emit(event, data);
  }

  #emit(name, data) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) listener(data);
  }

  /** The stream's id while it is open: answers can come over it. */
  get stream() {
    return this.#stream;
  }

  /** A new id for a call, by which its answer finds this tab. */
  callId() {
    return `${this.#name}-${randomId()}`;
  }

  /** Calls `listener(data)` for each event of this name; "lost": answers to come will not. */
  on(name, listener, signal) {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    signal?.addEventListener("abort", () => listeners.delete(listener), { once: true });
  }

  /** The page goes, for good or into the browser's keeping. */
  leave() {
    this.#stream = null;
    this.#bye?.();
  }

  /** The page is shown again: what was to come while it was kept is lost. */
  comeBack() {
    this.#emit("lost");
    this.#hello?.();
  }
}

/**
 * One event stream from Vitrine's server: opened, kept open, and honest about what it lost.
 *
 * Runs in the shared worker, or in the page where there is none. The browser reconnects by itself
 * and names the last event it got; only a stream that the server refused or forgot is lost.
 */

import { randomId } from "./ids.js";

const EVENTS = ["answer", "progress", "listed", "rows", "activity"];
const PAUSES = [1_000, 2_000, 5_000, 15_000, 30_000]; // ms, before a refused stream is tried again

export class Stream {
  #url;
  #emit;
  #source = null;
  #id = null;
  #isUp = false;
  #wasUp = false; // in this stream's life
  #refusals = 0;
  #timer;

  /**
   * `emit(news)` gets `{up: id, lost}` when the stream is open (`lost`: what was still to come on
   * an earlier one will not), `{down: true}` when it is not any more, and `{event, data}`.
   */
  constructor(url, emit) {
    this.#url = url;
    this.#emit = emit;
  }

  /** The id of the stream while it is open. */
  get id() {
    return this.#isUp ? this.#id : null;
  }

  /** Opens the stream unless that is under way; a waiting retry is made at once. */
  open() {
    if (this.#source !== null) return;
    clearTimeout(this.#timer);
    this.#id = randomId();
    this.#wasUp = false;
    const address = new URL(this.#url);
    address.searchParams.set("stream", this.#id);
    const source = new EventSource(address);
    this.#source = source;
    // The browser's own "open" says that headers came; the server's holds data and comes after it.
    source.addEventListener("open", ({ data }) => {
      if (data !== undefined) this.#opened(parsed(data));
    });
    source.addEventListener("error", () => this.#failed());
    for (const name of EVENTS) {
      source.addEventListener(name, ({ data }) => {
        const value = parsed(data);
        if (value !== undefined) this.#emit({ event: name, data: value });
      });
    }
  }

  close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
    this.#isUp = false;
  }

  #opened(greeting) {
    const lost = !this.#wasUp || greeting?.known === false;
    this.#isUp = true;
    this.#wasUp = true;
    this.#refusals = 0;
    this.#emit({ up: this.#id, lost });
  }

  #failed() {
    if (this.#isUp) {
      this.#isUp = false;
      this.#emit({ down: true });
    }
    if (this.#source === null || this.#source.readyState !== EventSource.CLOSED) return;
    this.#source = null;
    const pause = PAUSES[Math.min(this.#refusals, PAUSES.length - 1)];
    this.#refusals += 1;
    this.#timer = setTimeout(() => this.open(), pause);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy's own words, no event of ours
  }
}

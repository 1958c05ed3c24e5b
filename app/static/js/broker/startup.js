/** Watching a view start: what to say while it does, and why it may not have. */

import { visible } from "./text.js";

const AFTER_LOAD = 10_000; // ms from the document's load to `initialized`
const WITHOUT_LOAD = 30_000; // ms for a document that never finishes loading
const OPEN_AFTER_LOAD = 2_000; // ms: the prelude spoke long before, if it is there at all
const REASONS = 6; // shown

const NOT_LOADED = "The view's document did not load.";

/** What the page's own policy says of frames, when that keeps the view at `address` out. */
function keptOut({ effectiveDirective, blockedURI, originalPolicy }, address) {
  if (effectiveDirective !== "frame-src" || blockedURI !== address) return null;
  const [, allowed] = /(?:^|;)\s*frame-src ([^;]*)/.exec(originalPolicy) ?? [];
  const from = `This page lets in views from ${visible(allowed?.trim() ?? "nowhere", 200)} only, and they come from`;
  return `${from} ${new URL(address).host}. A reverse proxy must pass the Host header on: try "vitrine doctor".`;
}

export class Startup {
  #chrome;
  #absent;
  #needs;
  #signal;
  #timers = [];
  #isOpen = false;
  #isReady = false;
  #problems = new Set();

  /**
   * `absent(why)` is called when there is no document to wait for any longer; `needs` are the
   * view's, `address` its document's.
   */
  constructor(chrome, absent, needs, address, signal) {
    this.#chrome = chrome;
    this.#absent = absent;
    this.#needs = needs;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#stop(), { once: true });
    document.addEventListener("securitypolicyviolation", (event) => {
      const why = this.#isOpen ? null : keptOut(event, address);
      if (why !== null) this.#absent(why);
    }, { signal });
    chrome.say("startup", "Loading the view…");
    this.#after(WITHOUT_LOAD, () => this.#late());
  }

  /** The document's prelude has the port. */
  opened() {
    this.#isOpen = true;
    if (this.#isReady) return;
    this.#chrome.showFrame(true);
    this.#chrome.say("startup", "Loading the view…");
  }

  /** The document has loaded. */
  loaded() {
    this.#after(OPEN_AFTER_LOAD, () => {
      if (this.#isOpen || this.#signal.aborted) return;
      this.#chrome.showFrame(false); // it holds the browser's own error page, if anything
      this.#say(NOT_LOADED, []);
    });
    this.#after(AFTER_LOAD, () => this.#late());
  }

  /** Something that may be why the view does not start. */
  problem(text) {
    if (this.#problems.size < 50) this.#problems.add(visible(text, 200));
  }

  /** The view is up. */
  ready() {
    this.#isReady = true;
    this.#stop();
    this.#chrome.unsay("startup");
  }

  #late() {
    if (!this.#isOpen) {
      this.#absent(NOT_LOADED);
      return;
    }
    const reasons = [...this.#needs.sentences(false), ...this.#problems];
    const more = reasons.length - REASONS;
    const items = more > 0 ? [...reasons.slice(0, REASONS), `and ${more} more`] : reasons;
    this.#say(
      items.length > 0
        ? "The view has not started. What it does not get and what went wrong in it:"
        : "The view has not started, and reported no reason.",
      items,
    );
  }

  #say(text, items) {
    if (!this.#isReady && !this.#signal.aborted) {
      this.#chrome.say("startup", text, { level: "warning", items, reload: true });
    }
  }

  #after(ms, run) {
    this.#timers.push(setTimeout(run, ms));
  }

  #stop() {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    if (this.#signal.aborted) this.#chrome.unsay("startup");
  }
}

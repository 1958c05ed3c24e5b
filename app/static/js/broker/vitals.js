/** How far a view came, for whoever asks why it is blank. */

import { Fold } from "./fold.js";
import { visible } from "./text.js";

const STEPS = [
  ["loaded", "Its document loaded", "Its document has not loaded"],
  ["opened", "Its line to Vitrine opened", "Its line to Vitrine is not open, so there is no document of the view's"],
  ["initialize", "It asked to be let in (ui/initialize)", "It has not asked to be let in (ui/initialize)"],
  ["initialized", "It said that it has started", "It has not said that it has started"],
];
const ANSWERS = new Map([
  [undefined, "Asking its document for a sign of life…"],
  [true, "Its document answers"],
  [false, "Its document does not answer: it may be busy, or have crashed"],
]);
const ERRORS = 10;
const EVERY = 1_000; // ms, while somebody looks

export class Vitals {
  #began = performance.now();
  #times = new Map(); // step -> ms since the beginning
  #lastSign = null;
  #height = null;
  #errors = [];
  #needs;
  #ping;
  #alive = null; // or undefined while it is asked
  #ended = "";
  #fold;

  /**
   * `needs` are the view's; `ping()` resolves with whether its document answers now. The fold is
   * put into `home`, and follows what happens until `signal` ends.
   */
  constructor(home, needs, ping, signal) {
    this.#needs = needs;
    this.#ping = ping;
    this.#fold = new Fold(home, "panel-vitals", "Why is this blank?", (body) => this.#fill(body));
    this.#fold.element.addEventListener("toggle", () => void this.#look());
    const timer = setInterval(() => this.#fold.refresh(), EVERY);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  }

  /** The first time that a step was reached counts. */
  reached(step) {
    if (!this.#times.has(step)) this.#times.set(step, performance.now() - this.#began);
    this.#fold.refresh();
  }

  /** The view said something, whatever it was. */
  sign() {
    this.#lastSign = performance.now();
  }

  asked(height) {
    this.#height = height;
  }

  failed(text) {
    this.#errors.push(visible(text, 300));
    if (this.#errors.length > ERRORS) this.#errors.shift();
  }

  ended(why) {
    this.#ended = why;
    this.#alive = null;
    this.#fold.refresh();
  }

  async #look() {
    if (!this.#fold.element.open || this.#ended !== "") return;
    this.#alive = undefined;
    this.#fold.refresh();
    const alive = await this.#ping();
    if (this.#ended === "") this.#alive = alive;
    this.#fold.refresh();
  }

  #fill(body) {
    const list = document.createElement("ul");
    list.append(...this.#lines().map(([text, trouble]) => line(text, trouble)));
    body.replaceChildren(list);
  }

  #lines() {
    const lines = STEPS.map(([step, done, missing]) =>
      this.#times.has(step) ? [`${done} after ${seconds(this.#times.get(step))}`, false] : [missing, true],
    );
    const hasStarted = this.#times.has("initialized");
    lines.push([
      this.#height === null ? "It has asked for no height" : `It asked for a height of ${Math.round(this.#height)} pixels`,
      false,
    ]);
    if (this.#lastSign !== null) lines.push([`Last heard of ${seconds(performance.now() - this.#lastSign)} ago`, false]);
    if (this.#alive !== null) lines.push([ANSWERS.get(this.#alive), this.#alive === false]);
    if (this.#ended !== "") lines.push([this.#ended, true]);
    for (const need of this.#needs.sentences(hasStarted)) lines.push([need, true]);
    for (const error of this.#errors) lines.push([`Error in the view: ${error}`, true]);
    return lines;
  }
}

const seconds = (ms) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);

function line(text, trouble) {
  const item = document.createElement("li");
  item.textContent = text;
  if (trouble) item.dataset.level = "warning";
  return item;
}

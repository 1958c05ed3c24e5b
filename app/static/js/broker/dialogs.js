/** Questions in the host's own chrome, which no view can answer, cover or press. */

import { arm } from "./arming.js";
import { keepFocus } from "./focus.js";

const PATIENCE = 60_000; // ms that a question waits for its turn, and again for its answer
const WAITING = 3; // questions of one view that may wait
const REFUSALS = 3; // in a row, after which what a view could do without is refused unasked
const OFFER_AFTER = 2; // refusals in a row, after which a person can end the asking

let lastQuestion = Promise.resolve();
let nextId = 1;

const STOP = Symbol("ask no more for this view");

/** Whether a question is on the page, which then must not be covered. */
export function isAsking() {
  return document.querySelector("dialog[open]") !== null;
}

/** Asks a person on behalf of one panel, one question at a time on the whole page. */
export class Asker {
  #home;
  #signal;
  #muted;
  #isMuted = false;
  #waiting = 0;
  #refused = 0;

  /**
   * Dialogs are put into `home`; `signal` closes an open one, as refused; `muted()` is called when
   * the person wants to hear no more of the view.
   */
  constructor(home, signal, muted = () => undefined) {
    this.#home = home;
    this.#signal = signal;
    this.#muted = muted;
  }

  /**
   * `question`: `title`, `lines` (nodes or texts), `confirm` (the button's words), `run` (called
   * within the person's click). Resolves with true when confirmed.
   */
  async ask({ confirm, run, ...question }) {
    if (this.#refused >= REFUSALS) return false;
    return (await this.choose({ ...question, choices: [{ label: confirm, value: true, run }] })) === true;
  }

  /**
   * The `value` of the choice that the person takes, or null: they refuse, they do not answer in
   * time, or are not asked, because too many questions wait or they asked to hear no more.
   *
   * `question`: `title`, `lines`, `choices` (`{label, value, run}`), `refuse` (the words of the
   * button that says no), `signal` (takes the question back), `already()` (looked at when it is
   * the question's turn: an answer that is known by then, or null).
   */
  async choose(question) {
    if (this.#waiting >= WAITING || this.#isMuted) return null;
    const given = question.signal;
    const signal = given === undefined ? this.#signal : AbortSignal.any([this.#signal, given]);
    const since = performance.now();
    this.#waiting += 1;
    const turn = lastQuestion.then(() => {
      if (signal.aborted || this.#isMuted || performance.now() - since > PATIENCE) return null;
      return question.already?.() ?? this.#show(question, signal);
    });
    lastQuestion = turn.catch(() => undefined);
    try {
      const answer = await turn;
      if (answer === STOP) this.#mute();
      const taken = answer === STOP ? null : answer;
      if (taken !== null) this.#refused = 0;
      else if (!signal.aborted) this.#refused += 1; // else the view took it back itself
      return taken;
    } finally {
      this.#waiting -= 1;
    }
  }

  #mute() {
    if (this.#isMuted) return;
    this.#isMuted = true;
    this.#muted();
  }

  #show({ title, lines, choices, refuse = "Cancel" }, signal) {
    const { dialog, row } = frame(title, lines);
    const no = button(refuse);
    const taken = choices.map(({ label }, at) => button(label, at === 0 ? "is-primary" : ""));
    const stop = button("Stop asking for this view", "is-quiet");
    if (this.#refused >= OFFER_AFTER) row.append(stop);
    row.append(no, ...taken.toReversed());
    this.#home.append(dialog);

    const before = document.activeElement;
    const over = new AbortController();
    let answer = null;
    return new Promise((resolve) => {
      const end = (value) => {
        answer = value;
        dialog.close();
      };
      const timer = setTimeout(() => dialog.close(), PATIENCE);
      no.addEventListener("click", () => end(null));
      stop.addEventListener("click", () => end(STOP));
      choices.forEach(({ value, run }, at) => {
        taken[at].addEventListener("click", () => {
          run?.();
          end(value);
        });
      });
      signal.addEventListener("abort", () => dialog.close(), { signal: over.signal });
      dialog.addEventListener("close", () => {
        clearTimeout(timer);
        over.abort();
        dialog.remove();
        if (before instanceof HTMLElement && before.isConnected) before.focus();
        resolve(answer);
      });
      keepFocus(dialog, over.signal);
      dialog.showModal();
      dialog.focus(); // not what scrolls in it
      arm(dialog, [no, stop, ...taken], no, over.signal);
    });
  }
}

/** The dialog without its buttons, and the row for them. */
function frame(title, lines) {
  const dialog = document.createElement("dialog");
  const heading = document.createElement("h2");
  const body = document.createElement("div");
  const row = document.createElement("div");
  const id = `panel-question-${nextId}`;
  nextId += 1;
  dialog.className = "panel-dialog";
  dialog.tabIndex = -1;
  dialog.setAttribute("aria-labelledby", id);
  dialog.setAttribute("aria-describedby", `${id}-text`);
  heading.id = id;
  heading.textContent = title;
  body.id = `${id}-text`;
  body.className = "panel-dialog-body";
  body.append(...lines);
  row.className = "panel-dialog-actions";
  dialog.append(heading, body, row);
  return { dialog, row };
}

/** What became of a question that holds `line`: nobody saw it where it stands in no dialog. */
export function answered(confirmed, line) {
  if (confirmed) return "confirmed";
  return line.parentNode === null ? "refused" : "declined";
}

/** A push button that submits nothing. */
export function button(label, className = "") {
  const element = document.createElement("button");
  element.type = "button";
  element.className = `panel-button ${className}`.trim();
  element.textContent = label;
  return element;
}

/** Questions in the host's own chrome, which no view can answer, cover or press. */

const ARM_AFTER = 300; // ms: a click meant for the view must not land on "Open"
const WAITING = 3; // questions of one view that may wait
const REFUSALS = 3; // in a row, after which a view is not listened to until it is reloaded

let lastQuestion = Promise.resolve();
let nextId = 1;

/** Asks a person on behalf of one panel, one question at a time on the whole page. */
export class Asker {
  #home;
  #signal;
  #waiting = 0;
  #refused = 0;

  /** Dialogs are put into `home`; `signal` closes an open one, as refused. */
  constructor(home, signal) {
    this.#home = home;
    this.#signal = signal;
  }

  /**
   * `question`: `title`, `lines` (nodes or texts), `confirm` (the button's words), `run` (called
   * within the person's click). Resolves with true when confirmed.
   */
  async ask(question) {
    if (this.#waiting >= WAITING || this.#refused >= REFUSALS) return false;
    this.#waiting += 1;
    const turn = lastQuestion.then(() => (this.#signal.aborted ? false : this.#show(question)));
    lastQuestion = turn.catch(() => undefined);
    try {
      const confirmed = await turn;
      this.#refused = confirmed ? 0 : this.#refused + 1;
      return confirmed;
    } finally {
      this.#waiting -= 1;
    }
  }

  #show({ title, lines, confirm, run }) {
    const dialog = document.createElement("dialog");
    const heading = document.createElement("h2");
    const body = document.createElement("div");
    const cancel = button("Cancel");
    const accept = button(confirm, "is-primary");
    const row = document.createElement("div");
    const id = `panel-question-${nextId}`;
    nextId += 1;
    dialog.className = "panel-dialog";
    dialog.setAttribute("aria-labelledby", id);
    dialog.setAttribute("aria-describedby", `${id}-text`);
    heading.id = id;
    heading.textContent = title;
    body.id = `${id}-text`;
    body.append(...lines);
    row.className = "panel-dialog-actions";
    row.append(cancel, accept);
    dialog.append(heading, body, row);
    this.#home.append(dialog);

    const before = document.activeElement;
    const over = new AbortController();
    let confirmed = false;
    return new Promise((resolve) => {
      arm(accept, over.signal);
      cancel.addEventListener("click", () => dialog.close());
      accept.addEventListener("click", () => {
        confirmed = true;
        run();
        dialog.close();
      });
      this.#signal.addEventListener("abort", () => dialog.close(), { signal: over.signal });
      dialog.addEventListener("close", () => {
        over.abort();
        dialog.remove();
        if (before instanceof HTMLElement && before.isConnected) before.focus();
        resolve(confirmed);
      });
      dialog.showModal();
      cancel.focus();
    });
  }
}

/** What became of a question that holds `line`: nobody saw it where it stands in no dialog. */
export function answered(confirmed, line) {
  if (confirmed) return "confirmed";
  return line.parentNode === null ? "refused" : "declined";
}

/** Keeps a button dead for a moment after it appears and after the person comes back to the page. */
function arm(target, signal) {
  let timer;
  let away = false;
  const start = () => {
    clearTimeout(timer);
    target.disabled = true;
    timer = setTimeout(() => {
      target.disabled = false;
    }, ARM_AFTER);
  };
  start();
  // Focus that moves between the page and a view in it is no absence: a press is not to be lost.
  const left = () => {
    away ||= !document.hasFocus();
  };
  const back = () => {
    if (away) start();
    away = false;
  };
  window.addEventListener("blur", left, { signal });
  window.addEventListener("focus", back, { signal });
  document.addEventListener("visibilitychange", start, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
}

/** A push button that submits nothing. */
export function button(label, className = "") {
  const element = document.createElement("button");
  element.type = "button";
  element.className = `panel-button ${className}`.trim();
  element.textContent = label;
  return element;
}

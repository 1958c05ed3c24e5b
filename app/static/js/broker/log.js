/** What the view said and what the broker noticed, for a person who wonders: bounded, folded. */

import { Fold } from "./fold.js";
import { described } from "./text.js";

const KEPT = 200; // entries
const WIDTH = 500; // characters of one entry

export class Log {
  #fold;
  #entries = [];
  #total = 0;
  #scheduled = false;

  /** Puts a folded log into `home`; it is hidden while empty. */
  constructor(home) {
    this.#fold = new Fold(home, "panel-log", "View log", (body) => {
      const list = document.createElement("ol");
      list.append(...this.#entries.map(entryElement));
      body.replaceChildren(list);
    });
    this.#fold.hidden = true;
  }

  /** `source` is "view" or "host"; `level` one of MCP's levels; `what` any value. */
  add(source, level, what) {
    this.#total += 1;
    this.#entries.push({ number: this.#total, source, level, text: described(what, WIDTH) });
    if (this.#entries.length > KEPT) this.#entries.shift();
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#render();
    });
  }

  #render() {
    this.#fold.hidden = this.#total === 0;
    this.#fold.label = `View log (${this.#total})`;
    this.#fold.refresh();
  }
}

function entryElement({ number, source, level, text }) {
  const item = document.createElement("li");
  const label = document.createElement("span");
  item.value = number;
  item.dataset.level = level;
  label.className = "panel-log-source";
  label.textContent = `${source} ${level}`;
  item.append(label, " ", text);
  return item;
}

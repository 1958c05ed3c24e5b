/**
 * Fullscreen by style alone: the frame is never moved, for moving reloads it.
 *
 * As a popover the panel is drawn over everything, whatever the rows around it do with
 * `overflow` or `contain`. Its bar stays and names the server, so that a view cannot pass for the
 * application. Keys pressed inside the frame are not seen here; the prelude reports Escape.
 */

import { isAsking } from "./dialogs.js";

let current = null;

export class Fullscreen {
  #section;
  #changed;
  #back = [];

  /** `changed(active)` after each change; `signal` leaves for good. */
  constructor(section, changed, signal) {
    this.#section = section;
    this.#changed = changed;
    signal.addEventListener("abort", () => this.leave(), { once: true });
    document.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Escape" && !isAsking()) this.leave();
      },
      { signal },
    );
  }

  get active() {
    return current === this;
  }

  /**
   * False when another panel has the screen, or a question stands on the page: drawn later, the
   * view would cover it, and let clicks through to it.
   */
  enter() {
    if (this.active) return true;
    if (current !== null || isAsking()) return false;
    current = this;
    const section = this.#section;
    const focused = document.activeElement;
    const { scrollX, scrollY } = window;
    const home = section.parentElement;
    home.style.minHeight = `${home.offsetHeight}px`; // the page behind keeps its length
    const hidden = others(section);
    for (const element of hidden) element.inert = true;
    document.documentElement.classList.add("has-fullscreen-panel");
    section.classList.add("is-fullscreen");
    section.popover = "manual";
    section.showPopover();
    this.#back = [
      () => {
        section.hidePopover();
        section.popover = null;
        section.classList.remove("is-fullscreen");
        document.documentElement.classList.remove("has-fullscreen-panel");
        for (const element of hidden) element.inert = false;
        home.style.minHeight = "";
        window.scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
        if (focused?.isConnected) focused.focus({ preventScroll: true });
      },
    ];
    this.#changed(true);
    return true;
  }

  leave() {
    if (!this.active) return;
    current = null;
    for (const undo of this.#back.splice(0)) undo();
    this.#changed(false);
  }
}

/** Everything on the page that is neither `element`, nor around it, nor inert already. */
function others(element) {
  const found = [];
  for (let node = element; node !== document.body && node.parentElement; node = node.parentElement) {
    for (const sibling of node.parentElement.children) {
      if (sibling !== node && !sibling.inert) found.push(sibling);
    }
  }
  return found;
}

/** The host's own chrome around a view: buttons in the bar, notices under the frame. */

import { button } from "./dialogs.js";
import { Fold } from "./fold.js";
import { visible } from "./text.js";

const COPIED_FOR = 1_500; // ms

/** A button that loads the panel anew; app.js acts on the attribute, wherever it is. */
function reloadButton(label) {
  const element = button(label);
  element.dataset.panelReload = "";
  return element;
}

/** A button that copies the entry's own link, where the browser lets a page write the clipboard. */
function copyButton(section) {
  const link = section.closest(".row")?.querySelector("a[data-copy-link]");
  if (!link || navigator.clipboard === undefined) return [];
  const element = button("Copy link");
  element.addEventListener("click", () => {
    navigator.clipboard.writeText(link.href).then(
      () => {
        element.textContent = "Copied";
      },
      () => {
        element.textContent = "Not copied";
      },
    ).then(() => setTimeout(() => (element.textContent = "Copy link"), COPIED_FOR));
  });
  return [element];
}

export class Chrome {
  #section;
  #notices;
  #fullscreen = button("Fullscreen");
  #tools = null;
  #toolList;

  constructor(section, toggleFullscreen) {
    this.#section = section;
    this.#notices = section.querySelector("[data-panel-notice]");
    const actions = document.createElement("div");
    actions.className = "panel-actions";
    this.#fullscreen.dataset.panelFullscreen = "";
    this.#fullscreen.addEventListener("click", toggleFullscreen);
    this.foot = section.querySelector("[data-panel-foot]");
    actions.append(reloadButton("Reload"), ...copyButton(section), this.#fullscreen);
    section.querySelector(".panel-bar").append(actions);
  }

  showFullscreen(active) {
    this.#fullscreen.textContent = active ? "Leave fullscreen" : "Fullscreen";
    this.#fullscreen.ariaKeyShortcuts = active ? "Escape" : null;
  }

  /** Lists the tools that the view itself offers, with a fold of their own once there are any. */
  offers(tools) {
    if (this.#tools === null && tools.length === 0) return;
    this.#tools ??= new Fold(this.foot, "panel-tools", "", (body) => body.replaceChildren(this.#toolList));
    const count = `${tools.length} ${tools.length === 1 ? "tool" : "tools"}`;
    this.#toolList = document.createElement("div");
    const list = document.createElement("ul");
    list.append(...tools.map(({ name, description }) => {
      const item = document.createElement("li");
      item.append(element("code", visible(name, 100)));
      if (typeof description === "string" && description !== "") item.append(` ${visible(description, 200)}`);
      return item;
    }));
    this.#toolList.append(element("p", "They last as long as the view does. Vitrine hands them to no agent yet."), list);
    this.#tools.hidden = tools.length === 0;
    this.#tools.label = `This view offers the agent ${count}`;
    this.#tools.refresh();
  }

  /** The result that came after the panel was made, as the server shows one that was there. */
  addResult(result) {
    const text = JSON.stringify(result, null, 2);
    new Fold(this.foot, "panel-details", "Recorded result", (body) => {
      const whole = element("pre", visible(text, text.length));
      whole.tabIndex = 0;
      body.replaceChildren(whole);
    });
  }

  /** Hides a frame in which there is no document of the view's; a late one still comes. */
  showFrame(shown) {
    this.#section.classList.toggle("is-empty", !shown);
  }

  /** Without a view there is nothing to show in fullscreen, and its own tools are gone. */
  closed() {
    this.#fullscreen.remove();
    this.offers([]);
  }

  /**
   * Shows `text` as the notice called `key`, in place of an earlier one of that key.
   * `level`: "info", "warning" or "danger"; `items`: lines of a list; `links`: `[label, URL]`;
   * `reload`: with a button that loads the view anew.
   */
  say(key, text, { level = "info", items = [], links = [], reload = false } = {}) {
    this.unsay(key);
    const note = document.createElement("div");
    note.className = "panel-note";
    note.dataset.note = key;
    note.dataset.level = level;
    note.append(element("p", text));
    if (items.length > 0) {
      const list = document.createElement("ul");
      list.append(...items.map((item) => element("li", item)));
      note.append(list);
    }
    for (const [label, href] of links) {
      const link = element("a", label);
      link.href = href;
      note.append(link);
    }
    if (reload) note.append(reloadButton("Reload view"));
    this.#notices.append(note);
  }

  unsay(key) {
    this.#notices.querySelector(`[data-note="${key}"]`)?.remove();
  }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

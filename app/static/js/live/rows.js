/**
 * A session page that follows its session: new rows at the end, calls that got their result.
 *
 * The cursor is the last row on the page: whatever was missed while the stream was down comes with
 * the next look. A page that shows an earlier stretch only says that there is more.
 */

import { panelsIn } from "../broker/panel.js";
import { getFragment } from "../broker/html.js";

const AT_END = 120; // pixels from the page's end that still count as reading there
const ROUNDS = 10; // windows of rows that are fetched at once
const GATHER = 30; // ms: what is written in one go is fetched in one go

export class Rows {
  #section;
  #hasNews = false;
  #end;
  #jump;
  #news = 0;
  #timer;
  #running = Promise.resolve();

  constructor(section, live) {
    this.#section = section;
    this.#end = section.querySelector("#end");
    const { session } = section.dataset;
    live.on("rows", (news) => {
      if (news.session !== session) return;
      if (news.rewritten) this.#rewritten();
      for (const call of news.calls ?? []) this.#queue(() => this.#settle(call));
      this.#look(true);
    });
    live.on("lost", () => this.#look(false));
    window.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  #queue(run) {
    this.#running = this.#running.then(run).catch((error) => {
      console.error("vitrine: the page could not be brought up to date", error);
    });
  }

  /** `news`: something has come for certain, and is not only looked for. */
  #look(news) {
    this.#hasNews ||= news;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#queue(() => this.#pull()), GATHER);
  }

  /** The link to rows after those of the page, which then does not show the end. */
  get #more() {
    const { transcript } = this.#section.dataset;
    return this.#section.querySelector(transcript === "0" ? "#load-after" : `#load-after-${transcript}`);
  }

  /** Rows of this page's own transcript; a sub-agent's may stand within them. */
  get #last() {
    const own = `${this.#section.dataset.transcript}-`;
    return [...this.#section.querySelectorAll(".row")].findLast((row) => row.id.startsWith(own));
  }

  async #pull() {
    const hasNews = this.#hasNews;
    this.#hasNews = false;
    if (this.#more !== null) {
      if (hasNews) this.#bar("There is more", "Jump to newest", () => this.#goToEnd());
      return;
    }
    const wasAtEnd = this.#isAtEnd();
    let count = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const last = this.#last;
      if (last === undefined) {
        window.location.reload(); // nothing to go on from
        return;
      }
      const { rows, more } = await this.#after(last.id);
      count += rows;
      if (!more) break;
      // So much at once is not followed: the link that came with it leads on.
      if (round < ROUNDS - 1) this.#more?.closest(".more").remove();
    }
    if (count === 0) return;
    document.dispatchEvent(new CustomEvent("vitrine:rows"));
    if (wasAtEnd && !this.#isBusy()) this.#toEnd();
    else this.#announce(count);
  }

  /** Adds the rows after one: how many there were, and whether more follow. */
  async #after(id) {
    const url = new URL(this.#section.dataset.entriesUrl, window.location.href);
    url.searchParams.set("after", id);
    const nodes = await fetched(url);
    const rows = nodes.filter((node) => node.matches(".row")).length;
    if (rows === 0) return { rows, more: false };
    this.#section.querySelector(".transcript-nothing")?.remove();
    this.#end.before(...nodes);
    for (const node of nodes) window.htmx?.process(node);
    return { rows, more: this.#more !== null };
  }

  /** The call's line anew; a view that runs under it is told, and never loaded again. */
  async #settle({ at }) {
    const row = document.getElementById(at);
    if (row === null || !this.#section.contains(row)) return;
    const address = this.#section.dataset.rowUrl.replace("ADDRESS", encodeURIComponent(at));
    const fresh = (await fetched(new URL(address, window.location.href))).find((node) => node.id === at);
    if (fresh === undefined) return;
    const [old, now] = [row, fresh].map((from) => from.querySelector("details.call"));
    if (old !== null && now !== null) {
      now.open = old.open;
      const hadFocus = old.contains(document.activeElement);
      old.replaceWith(now);
      if (hadFocus) now.querySelector("summary").focus({ preventScroll: true });
    }
    const slot = fresh.querySelector(".panel-slot");
    if (slot !== null && row.querySelector(".panel-slot") === null) {
      row.querySelector(".row-body").append(slot);
      window.htmx?.process(slot);
    }
    for (const panel of panelsIn(row)) await panel.settle();
  }

  #rewritten() {
    this.#bar("This transcript was written anew.", "Load it", () => window.location.reload());
  }

  #announce(count) {
    this.#news += count;
    if (this.#isAtEnd()) this.#scrolled();
    else this.#bar(`${this.#news} new`, "Jump to newest", () => this.#goToEnd());
  }

  #goToEnd() {
    if (this.#more === null) {
      this.#toEnd();
      return;
    }
    // The newest rows are another page: the one that opens without an address.
    const { searchParams } = new URL(this.#section.dataset.entriesUrl, window.location.href);
    window.location.assign(`${window.location.pathname}?level=${searchParams.get("level")}#end`);
  }

  #bar(text, label, act) {
    this.#jump?.remove();
    this.#jump = document.createElement("div");
    this.#jump.className = "news";
    this.#jump.role = "status";
    const what = document.createElement("span");
    what.textContent = text;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button-primary";
    button.textContent = label;
    button.addEventListener("click", act);
    this.#jump.append(what, button);
    this.#section.after(this.#jump);
  }

  #scrolled() {
    if (this.#news === 0 || !this.#isAtEnd()) return;
    this.#news = 0;
    this.#jump?.remove();
    this.#jump = undefined;
  }

  #isAtEnd() {
    return this.#end.getBoundingClientRect().top < window.innerHeight + AT_END;
  }

  /** Somebody is in the middle of something: a view fills the screen, or a question is asked. */
  #isBusy() {
    return document.querySelector(".is-fullscreen, dialog[open]") !== null;
  }

  #toEnd() {
    this.#end.scrollIntoView({ block: "end", behavior: "instant" });
    this.#scrolled();
  }
}

/** The nodes of a piece of HTML from the server; throws where it cannot be had. */
async function fetched(url) {
  const { ok, status, isSignedOut, page } = await getFragment(url);
  if (isSignedOut) window.location.reload();
  if (!ok) throw new Error(`status ${status}`);
  return [...page.body.children];
}

/** One stream for many tabs: each hears what is for all, and the answers to its own calls. */

import { Stream } from "./stream.js";

export class FanOut {
  #tabs = new Map(); // port -> name of the tab
  #stream = null;

  /** A tab speaks: `{hello: name, url}` when it comes or comes back, `{bye: true}` when it goes. */
  take(port, { hello, url, bye }) {
    if (bye === true) this.#tabs.delete(port);
    if (typeof hello !== "string") return;
    this.#tabs.set(port, hello);
    this.#stream ??= new Stream(url, (news) => this.#spread(news));
    if (this.#stream.id === null) this.#stream.open();
    else port.postMessage({ up: this.#stream.id, lost: true });
  }

  #spread(news) {
    const call = news.data?.call;
    for (const [port, name] of this.#tabs) {
      // A call's id begins with the name of its tab; an answer may be large, and is nobody else's.
      if (typeof call !== "string" || call.startsWith(`${name}-`)) port.postMessage(news);
    }
  }
}

/** Calls whose answer may come over the event stream instead of in the response. */

import { isObject } from "../broker/json.js";

export class Calls {
  #live;
  #open = new Map(); // id -> {answer, progress, lost}

  constructor(live) {
    this.#live = live;
    live.on("answer", (data) => this.#open.get(data?.call)?.answer(data));
    live.on("progress", (data) => this.#open.get(data?.call)?.progress(data));
    live.on("lost", () => {
      for (const call of this.#open.values()) call.lost();
    });
  }

  /**
   * Begins to listen, before the request goes out: `{id, stream, answer, forget}`. `answer`
   * resolves with the event's data, or with null when the stream that it was to come on is lost.
   * `progress(data)` is called for what is reported until then.
   */
  expect(progress) {
    const id = this.#live.callId();
    const { stream } = this.#live;
    let settle;
    const answer = new Promise((resolve) => {
      settle = resolve;
    });
    this.#open.set(id, {
      answer: settle,
      progress: (data) => {
        if (isObject(data) && Number.isFinite(data.progress)) progress(data);
      },
      lost: () => {
        if (stream !== null) settle(null);
      },
    });
    return { id, stream, answer, forget: () => this.#open.delete(id) };
  }
}

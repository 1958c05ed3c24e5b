/** What a view tried and does not get, in words for the person who wonders why it looks broken. */

import { visible } from "./text.js";

const SHOWN = 6;
const KEPT = 50;

// Of each directive, what the document was after.
const AFTER = {
  "connect-src": "contact",
  "img-src": "load a picture from",
  "script-src": "load a script from",
  "style-src": "load a style from",
  "font-src": "load a font from",
  "media-src": "load sound or video from",
  "frame-src": "show a page from",
  "worker-src": "start a background script from",
  "form-action": "send a form to",
  "base-uri": "take its addresses from",
  "object-src": "load a plug-in from",
};

const EVAL =
  "This view builds code from text (eval), which Vitrine gives no view, because code that is made " +
  "up on the way cannot be held to what the server declared.";
const WASM = "This view runs WebAssembly, which Vitrine gives no view.";
const INLINE_WORKER = "This view starts a background script (worker) that its policy does not allow.";
const OWN =
  "This view asks for a file beside its own document, and there is none: a view must hold all that " +
  "it needs or name other addresses.";

export class Needs {
  #evals = 0;
  #sentences = new Set();

  /** Takes one thing that the document's policy blocked; `home` is the origin it was served from. */
  add({ directive, blocked }, home) {
    if (blocked === "eval" || blocked === "trusted-types-policy") {
      this.#evals += 1;
      return;
    }
    const sentence = this.#sentence(String(directive), String(blocked), home);
    if (sentence !== null && this.#sentences.size < KEPT) this.#sentences.add(sentence);
  }

  #sentence(directive, blocked, home) {
    if (blocked === "wasm-eval") return WASM;
    const kind = directive.replace(/-(?:elem|attr)$/, "");
    const origin = originOf(blocked);
    if (kind === "worker-src" && origin === null) return INLINE_WORKER;
    if (origin === null || !Object.hasOwn(AFTER, kind)) return null;
    if (origin === home) return OWN;
    return `This view tried to ${AFTER[kind]} ${visible(origin, 200)}, which its server did not declare or Vitrine did not grant.`;
  }

  /**
   * The sentences that matter. Views built with Zod try eval once and go on without it, so one
   * attempt counts only while the view has not started.
   */
  sentences(hasStarted) {
    const all = [...this.#sentences];
    if (this.#evals > 1 || (this.#evals === 1 && !hasStarted)) all.unshift(EVAL);
    const more = all.length - SHOWN;
    return more > 0 ? [...all.slice(0, SHOWN), `and ${more} more`] : all;
  }
}

function originOf(address) {
  try {
    const { origin } = new URL(address);
    return origin === "null" ? null : origin;
  } catch {
    return null; // a keyword such as "inline"
  }
}

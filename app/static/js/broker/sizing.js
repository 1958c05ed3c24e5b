/** The frame's height: the view asks, the host decides. The width is always the host's. */

const MIN_HEIGHT = 40;
const MAX_HEIGHT = 4000;
const SMALL_SHRINK = 4; // pixels; following them shrinks a view a pixel a frame for ever
const ROUNDS = 10; // answers to our own resizing, after which it is a loop
const ROUND = 2_000; // ms within which a report answers a resize
const TRIAL = 1_000; // ms in which a loop shows that it is one
const NO_LOOP = { step: NaN, rounds: 0, from: null, at: -Infinity };

/** The tallest that a view may be inline: most of the window, so that its chrome stays near. */
export function maxHeight() {
  return Math.min(MAX_HEIGHT, Math.max(480, Math.round(window.innerHeight * 0.8)));
}

const bounded = (height) => Math.min(Math.max(height, MIN_HEIGHT), maxHeight());

export const isHeight = (height) => typeof height === "number" && Number.isFinite(height) && height > 0;

export class Sizing {
  #box;
  #signal;
  #looping;
  #asked = null;
  #height = null;
  #frameRequest = 0;
  #trial;
  #loop = NO_LOOP;

  /**
   * `box` holds the frame; its height is set here, once the view has asked for one. `looping()` is
   * called when the view's height turns out to follow its own frame's.
   */
  constructor(box, looping, signal) {
    this.#box = box;
    this.#signal = signal;
    this.#looping = looping;
    signal.addEventListener("abort", () => {
      cancelAnimationFrame(this.#frameRequest);
      clearTimeout(this.#trial);
    }, { once: true });
    window.addEventListener("resize", () => this.#schedule(), { signal });
  }

  /** A height that the view reports, in CSS pixels; anything but a positive number is ignored. */
  report(height) {
    if (!isHeight(height)) return;
    this.#asked = Math.ceil(height);
    this.#schedule();
  }

  #schedule() {
    if (this.#asked === null || this.#frameRequest !== 0 || this.#signal.aborted) return;
    this.#frameRequest = requestAnimationFrame(() => {
      this.#frameRequest = 0;
      this.#apply();
    });
  }

  #apply() {
    const height = bounded(this.#asked);
    const shrink = (this.#height ?? Infinity) - height;
    if (shrink >= 0 && shrink <= SMALL_SHRINK) return;
    this.#set(this.#inLoop() ? this.#loop.from : height);
  }

  /**
   * Whether the view asks for the same bit more (or less) than it has after every change, as one
   * does whose content is as tall as its window and a margin. It goes back to where that began, and
   * stays as long as it asks for that bit. If it does not ask again, something merely unfolded at
   * a steady pace, and gets what it asked for.
   */
  #inLoop() {
    const loop = this.#loop;
    const before = this.#height ?? this.#box.clientHeight;
    const step = this.#asked - before;
    const now = performance.now();
    clearTimeout(this.#trial);
    if (step !== loop.step || (loop.rounds < ROUNDS && now - loop.at > ROUND)) {
      this.#loop = { step, rounds: 1, from: step === loop.step ? loop.from : before, at: now };
      return false;
    }
    loop.rounds += 1;
    loop.at = now;
    if (loop.rounds === ROUNDS) this.#trial = setTimeout(() => this.#acquit(), TRIAL);
    if (loop.rounds === ROUNDS + 1) this.#looping();
    return loop.rounds >= ROUNDS;
  }

  #acquit() {
    this.#loop = NO_LOOP;
    this.#set(bounded(this.#asked));
  }

  #set(height) {
    if (height === this.#height) return;
    this.#height = height;
    this.#box.classList.add("is-sized");
    this.#box.style.setProperty("--view-height", `${height}px`);
  }
}

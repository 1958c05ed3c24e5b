/** Signs of life of a view's document: the prelude answers pings, whatever the view is doing. */

const EVERY = 20_000; // ms
const PATIENCE = 10_000; // ms: a busy main thread answers late, a dead one never

export class Liveness {
  #ping;
  #on;
  #next = 1;
  #open = new Map(); // n -> resolve
  #silent = false;

  /** `ping(n)` sends one; `on`: `silent()` and `back()` when that changes; ends with `signal`. */
  constructor(ping, on, signal) {
    this.#ping = ping;
    this.#on = on;
    const timer = setInterval(() => void this.look(), EVERY);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  }

  pong(n) {
    this.#open.get(n)?.(true);
  }

  /** Whether the document answers within `ms`. */
  check(ms) {
    const n = this.#next;
    this.#next += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish(false), ms);
      const finish = (alive) => {
        clearTimeout(timer);
        this.#open.delete(n);
        resolve(alive);
      };
      this.#open.set(n, finish);
      this.#ping(n);
    });
  }

  /** One round. A hidden page proves nothing: its timers and frames are held back. */
  async look() {
    if (document.hidden) return;
    const alive = await this.check(PATIENCE);
    if (document.hidden || alive === !this.#silent) return;
    this.#silent = !alive;
    if (alive) this.#on.back();
    else this.#on.silent();
  }
}

/**
 * Whose request goes out next. A browser opens six HTTP/1.1 connections an origin: views must
 * leave some to the page, and one view some to the others.
 */

const AT_ONCE = 4; // on the page
const EACH = 3; // of one view

const lanes = new Set(); // those with somebody waiting, the one whose turn it is first
let running = 0;

/** The lane of one view. */
export class Lane {
  running = 0;
  queue = [];

  /** Resolves when it is this request's turn, with a function to call when it is over. */
  async enter(signal) {
    signal.throwIfAborted();
    let giveUp;
    try {
      await new Promise((resolve, reject) => {
        giveUp = () => {
          this.queue = this.queue.filter((start) => start !== resolve);
          reject(signal.reason);
        };
        signal.addEventListener("abort", giveUp);
        this.queue.push(resolve);
        lanes.add(this);
        advance();
      });
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      running -= 1;
      this.running -= 1;
      advance();
    };
  }
}

/** Starts what may start; a lane that had its turn goes to the end. */
function advance() {
  for (const lane of [...lanes]) {
    if (running >= AT_ONCE) return;
    lanes.delete(lane);
    if (lane.queue.length === 0) continue;
    if (lane.running < EACH) {
      running += 1;
      lane.running += 1;
      lane.queue.shift()();
    }
    if (lane.queue.length > 0) lanes.add(lane);
  }
}

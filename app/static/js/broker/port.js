/**
 * The private line to one view's document.
 *
 * The prelude in the frame says hello with the nonce of this load; it gets one end of a channel,
 * once. A document that the frame goes to afterwards has no nonce and gets nothing.
 *
 * On the line: `{rpc: message}` is a JSON-RPC message of the view or for it. `{vitrine: kind, …}`
 * is the prelude's own: `open` once it has the port, `violation` (directive, blocked, source,
 * line), `error` (message), `link` (url), `gesture`, `escape`, `pong` (n); and `ping` (n) from here.
 */
export class FramePort {
  #frame;
  #nonce;
  #on;
  #port = null;
  #onHello = (event) => this.#hello(event);

  /**
   * Call before the frame has a source, or the hello is lost.
   * `on`: `message(rpc)`, `control(message)`, `stray()` for anything else that the
   * frame posts to this page, `close()` when the document went away (where the browser tells).
   */
  constructor(frame, nonce, on) {
    this.#frame = frame;
    this.#nonce = nonce;
    this.#on = on;
    window.addEventListener("message", this.#onHello);
  }

  get isOpen() {
    return this.#port !== null;
  }

  #hello(event) {
    const view = this.#frame.contentWindow;
    if (view === null || event.source !== view) return;
    const { data } = event;
    const known =
      typeof data === "object" && data !== null && data.vitrine === "hello" && data.nonce === this.#nonce;
    if (!known || this.#port !== null) {
      this.#on.stray();
      return;
    }
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data: message }) => this.#receive(message);
    port1.onclose = () => this.#on.close();
    // An opaque origin has no name to address; the nonce and the frame's own window are the check.
    view.postMessage({ vitrine: "port", nonce: this.#nonce }, "*", [port2]);
  }

  #receive(message) {
    if (typeof message !== "object" || message === null) return;
    if (typeof message.vitrine === "string") this.#on.control(message);
    else this.#on.message(message.rpc);
  }

  /** Sends one JSON-RPC message to the view. */
  send(rpc) {
    this.#port?.postMessage({ rpc });
  }

  /** Asks the prelude for a sign of life; it answers whatever the view itself is busy with. */
  ping(n) {
    this.#port?.postMessage({ vitrine: "ping", n });
  }

  close() {
    window.removeEventListener("message", this.#onHello);
    if (this.#port !== null) {
      this.#port.onmessage = null;
      this.#port.onclose = null;
      this.#port.close();
    }
    this.#port = null;
  }
}

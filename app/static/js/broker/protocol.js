/** JSON-RPC 2.0 with one view: strict in what it sends, lenient in what it takes. */

import { isObject, jsonSize, stripNulls } from "./json.js";

export const MESSAGE_LIMIT = 1_000_000; // characters of JSON, about 1 MB
const DOWNLOAD_LIMIT = 48_000_000; // of one that holds files: 32 MiB in base64, and some
const BURST = 400; // messages
const PER_SECOND = 100;
const OVERSIZE_COST = 40; // messages that one refused giant counts as

/** An error for the view: a JSON-RPC code, a message, and optionally data. */
export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A result that is passed on exactly as it came, nulls included. */
export class Verbatim {
  constructor(value) {
    this.value = value;
  }
}

const outgoing = (value) => (value instanceof Verbatim ? value.value : stripNulls(value));
const isId = (id) => typeof id === "string" || (typeof id === "number" && Number.isFinite(id));

export class Connection {
  #on;
  #requests; // method -> async (params, signal) => result
  #notifications; // method -> (params) => void
  #tokens = BURST;
  #filled = performance.now();
  #running = new Map(); // id of the view's request -> its AbortControllers
  #asked = new Map(); // id of our request -> resolve
  #nextId = 1;
  #closed = false;

  /**
   * `requests` and `notifications` map a method to its handler. `on`: `send(message)`,
   * `odd(text)` for what was ignored and why, `flood()` once when the view sends too much.
   */
  constructor(requests, notifications, on) {
    this.#requests = requests;
    this.#notifications = notifications;
    this.#on = on;
  }

  /** Takes one message of the view, whatever it is. Never throws for what is in it. */
  receive(message) {
    if (this.#closed || !this.take(1)) return;
    const size = jsonSize(message, MESSAGE_LIMIT);
    if (size === Infinity && !this.#holdsFiles(message)) {
      this.#refuseGiant(message);
    } else if (!isObject(message) || message.jsonrpc !== "2.0") {
      this.#on.odd("a message that is not JSON-RPC 2.0 was ignored");
    } else if (typeof message.method === "string") {
      this.#dispatch(message);
    } else {
      this.#settle(message);
    }
  }

  /** Spends `cost` of the view's allowance; false, and `flood()` once, when there is none left. */
  take(cost) {
    const now = performance.now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#filled) / 1000) * PER_SECOND);
    this.#filled = now;
    this.#tokens -= cost;
    if (this.#tokens >= 0) return true;
    if (!this.#closed) {
      this.close();
      this.#on.flood();
    }
    return false;
  }

  /** Files are let by, at the price of a giant: what can be sent of them a minute has a bound. */
  #holdsFiles(message) {
    if (!isObject(message) || message.method !== "ui/download-file") return false;
    return jsonSize(message, DOWNLOAD_LIMIT) !== Infinity && this.take(OVERSIZE_COST - 1);
  }

  #refuseGiant(message) {
    this.#on.odd("a message over 1 MB, nested too deep or not made of JSON was refused");
    if (!this.take(OVERSIZE_COST)) return;
    if (isObject(message) && typeof message.method === "string" && isId(message.id)) {
      this.#fail(message.id, new RpcError(-32600, "Message too large, too deep or not JSON"));
    } else if (isObject(message) && this.#asked.has(message.id)) {
      this.#settle({ id: message.id }); // a useless answer, but nobody need wait for another
    }
  }

  #dispatch({ id, method, params }) {
    const hasId = id !== undefined;
    if (hasId && !isId(id)) {
      this.#on.odd(`a request whose id is neither text nor a number was ignored: ${method}`);
    } else if (params !== undefined && params !== null && !isObject(params)) {
      if (hasId) this.#fail(id, new RpcError(-32602, `Invalid params for ${method}`));
      else this.#on.odd(`a notification with invalid params was ignored: ${method}`);
    } else if (hasId) {
      void this.#serve(id, method, params ?? {});
    } else if (method === "notifications/cancelled") {
      this.#cancel(params ?? {});
    } else {
      const handler = this.#notifications.get(method);
      if (handler === undefined) this.#on.odd(`an unknown notification was ignored: ${method}`);
      else handler(params ?? {});
    }
  }

  async #serve(id, method, params) {
    const handler = this.#requests.get(method);
    if (handler === undefined) {
      this.#on.odd(`an unknown request was refused: ${method}`);
      this.#fail(id, new RpcError(-32601, `Method not found: ${method}`));
      return;
    }
    const controller = new AbortController();
    // A view that connects twice (React's strict mode) numbers its requests from zero again.
    const same = this.#running.get(id) ?? new Set();
    this.#running.set(id, same.add(controller));
    try {
      const result = await handler(params, controller.signal);
      if (!controller.signal.aborted) {
        this.#send({ jsonrpc: "2.0", id, result: outgoing(result ?? {}) });
      }
    } catch (error) {
      if (!controller.signal.aborted) this.#fail(id, error);
    } finally {
      same.delete(controller);
      if (same.size === 0) this.#running.delete(id);
    }
  }

  #cancel({ requestId }) {
    for (const controller of this.#running.get(requestId) ?? []) controller.abort();
  }

  #settle({ id, result, error }) {
    const resolve = this.#asked.get(id);
    if (resolve === undefined) {
      this.#on.odd("an answer to no question was ignored");
      return;
    }
    this.#asked.delete(id);
    resolve({ result, error });
  }

  #fail(id, error) {
    if (!(error instanceof RpcError)) console.error("vitrine: a request of a view failed", error);
    const { code, message, data } =
      error instanceof RpcError ? error : new RpcError(-32603, "Internal error of the host");
    this.#send({ jsonrpc: "2.0", id, error: stripNulls({ code, message, data }) });
  }

  #send(message) {
    if (!this.#closed) this.#on.send(message);
  }

  /** Sends a notification; `params` without nulls, or `Verbatim`. */
  notify(method, params) {
    this.#send({ jsonrpc: "2.0", method, params: outgoing(params) });
  }

  /**
   * Asks the view; resolves with `{result, error}`, or `{}` after `ms` or when closed. A view that
   * is too slow is told that nobody waits any longer.
   */
  request(method, params, ms) {
    if (this.#closed) return Promise.resolve({});
    const id = `vitrine-${this.#nextId}`;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id);
        this.notify("notifications/cancelled", { requestId: id, reason: "No answer in time" });
        resolve({});
      }, ms);
      this.#asked.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#send({ jsonrpc: "2.0", id, method, params: outgoing(params) });
    });
  }

  /** Ends the conversation: running requests are aborted, nothing is sent or taken any more. */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    for (const controllers of this.#running.values()) {
      for (const controller of controllers) controller.abort();
    }
    for (const resolve of this.#asked.values()) resolve({});
    this.#asked.clear();
  }
}

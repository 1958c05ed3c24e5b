/**
 * Tools that a view itself offers, for as long as it lives.
 *
 * No agent gets them yet: they are listed, shown in the panel and can be called from there.
 */

import { isObject } from "./json.js";
import { RpcError, Verbatim } from "./protocol.js";

const MOST = 50; // tools of one view
const PAGES = 10;
const PATIENCE = 30_000; // ms for an answer
const PAUSE = 2_000; // ms between two listings

export class AppTools {
  #ask;
  #changed;
  #tools = new Map(); // name -> definition
  #offered = false;
  #closed = false;
  #listing = false;
  #stale = false;

  /** `ask(method, params, ms)` asks the view; `changed(tools)` is called with the new list. */
  constructor(ask, changed, signal) {
    this.#ask = ask;
    this.#changed = changed;
    signal.addEventListener("abort", () => this.#close(), { once: true });
  }

  /** The view is listening; `capabilities` are those that it declared. */
  start(capabilities) {
    this.#offered = isObject(capabilities?.tools);
    this.refresh();
  }

  /** Lists the tools anew; not oftener than every other second, whatever the view says. */
  refresh() {
    if (!this.#offered || this.#closed) return;
    this.#stale = true;
    if (!this.#listing) void this.#keepUp();
  }

  async #keepUp() {
    this.#listing = true;
    while (this.#stale && !this.#closed) {
      this.#stale = false;
      const tools = await this.#list();
      if (this.#closed) break;
      this.#tools = tools;
      this.#changed([...tools.values()]);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    this.#listing = false;
  }

  async #list() {
    const tools = new Map();
    let cursor;
    for (let page = 0; page < PAGES; page += 1) {
      const { result } = await this.#ask("tools/list", { cursor }, PATIENCE);
      for (const tool of Array.isArray(result?.tools) ? result.tools : []) {
        if (isTool(tool) && tools.size < MOST) tools.set(tool.name, tool);
      }
      cursor = result?.nextCursor;
      if (typeof cursor !== "string" || tools.size >= MOST) break;
    }
    return tools;
  }

  /** Calls a tool of the view; its result, or an `RpcError` that says why there is none. */
  async call(name, args) {
    if (this.#closed) throw gone();
    if (!this.#tools.has(name)) throw new RpcError(-32602, `Unknown tool: ${name}`);
    const { result, error } = await this.#ask("tools/call", new Verbatim({ name, arguments: args }), PATIENCE);
    if (isObject(result)) return result;
    if (this.#closed) throw gone();
    if (isObject(error)) throw new RpcError(error.code, String(error.message));
    throw new RpcError(-32603, "The view gave no usable answer in time", { reason: "timeout" });
  }

  #close() {
    this.#closed = true;
    this.#tools.clear();
  }
}

const gone = () => new RpcError(-32000, "The view is closed", { reason: "gone" });

function isTool(tool) {
  return isObject(tool) && typeof tool.name === "string" && tool.name !== "" && isObject(tool.inputSchema);
}

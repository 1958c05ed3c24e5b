/**
 * The life of one view: initialize, then the recorded input once and the result, then teardown.
 *
 * The view must not be sent anything before it says `initialized`; what changes until then is in
 * the context that it gets afterwards.
 */

import { hostCapabilities } from "./context.js";
import { cleanResult, isObject } from "./json.js";
import { Verbatim } from "./protocol.js";
import { strictContext } from "./strict.js";

const LATEST = "2026-01-26";
const KNOWN_VERSIONS = new Set([LATEST]);
const TEARDOWN_DEADLINE = 500; // ms; any answer, an error too, is consent

export class Session {
  #data;
  #connection;
  #context;
  #ready;
  #sent = {};
  #isReady = false;
  #capabilities = {};

  /**
   * `data` is the panel's data block; `context()` makes the hostContext of now; `ready()` is
   * called once, with the view's capabilities, when it has been given everything.
   */
  constructor(data, context, ready) {
    this.#data = data;
    this.#context = context;
    this.#ready = ready;
  }

  attach(connection) {
    this.#connection = connection;
  }

  get isReady() {
    return this.#isReady;
  }

  /** Whether the view said that it can be shown so; a view that said nothing can. */
  accepts(displayMode) {
    const modes = this.#capabilities.availableDisplayModes;
    return !Array.isArray(modes) || modes.includes(displayMode);
  }

  /** The answer to `ui/initialize`, also to a second one. */
  initialize({ protocolVersion, appCapabilities }) {
    this.#capabilities = isObject(appCapabilities) ? appCapabilities : {};
    this.#sent = strictContext(this.#context());
    return {
      protocolVersion: KNOWN_VERSIONS.has(protocolVersion) ? protocolVersion : LATEST,
      hostInfo: this.#data.hostInfo,
      hostCapabilities: hostCapabilities(this.#data),
      hostContext: this.#sent,
    };
  }

  /** The view is listening: it gets the call's input exactly once, and what became of it. */
  initialized() {
    if (this.#isReady) return;
    this.#isReady = true;
    const { toolInput } = this.#data;
    const args = isObject(toolInput) ? toolInput : {};
    this.#connection.notify("ui/notifications/tool-input", new Verbatim({ arguments: args }));
    this.#tellOutcome();
    this.contextChanged();
    this.#ready(this.#capabilities);
  }

  #tellOutcome() {
    const { toolResult, state } = this.#data;
    if (isObject(toolResult)) {
      this.#connection.notify("ui/notifications/tool-result", new Verbatim(cleanResult(toolResult)));
    } else if (state !== "pending") {
      this.#connection.notify("ui/notifications/tool-cancelled", { reason: cancelReason(state) });
    }
  }

  /**
   * A call that was running when the view was opened is over: `{state, toolResult?}`. A view that
   * is not listening yet gets it when it is. False when there was an outcome before.
   */
  settle({ state, toolResult }) {
    if (this.#data.state !== "pending" || isObject(this.#data.toolResult) || state === "pending") return false;
    this.#data.state = state;
    this.#data.toolResult = toolResult;
    if (this.#isReady) this.#tellOutcome();
    return true;
  }

  /** Sends the members of the context that differ from what the view knows. */
  contextChanged() {
    if (!this.#isReady) return;
    const now = strictContext(this.#context());
    const changed = Object.entries(now).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(this.#sent[key]),
    );
    if (changed.length === 0) return;
    this.#sent = now;
    this.#connection.notify("ui/notifications/host-context-changed", Object.fromEntries(changed));
  }

  /** Lets the view end by itself; resolves when it has answered or had its time. */
  async teardown(reason) {
    if (!this.#isReady) return;
    await this.#connection.request("ui/resource-teardown", { reason }, TEARDOWN_DEADLINE);
  }
}

function cancelReason(state) {
  if (state === "interrupted") return "The call was interrupted";
  if (state === "failed") return "The call failed";
  return "The transcript does not hold the result";
}

/** The view's way to Vitrine's server: the proxy and the messages to the agent. */

import { isObject } from "./json.js";
import { Lane } from "./lane.js";
import { RpcError } from "./protocol.js";

const OPEN = 100; // requests of one view that run or wait
const TELLING = 4; // reports for the audit trail under way; a flood of more tells nothing new

export class Remote {
  #urls;
  #calls;
  #lane = new Lane();
  #open = 0;
  #telling = 0;
  #sent = new Map(); // id of a call that is out -> what takes it back

  /** `urls`: `rpcUrl`, `messageUrl`, `cancelUrl` and `seenUrl`; `calls` is the page's `Calls`. */
  constructor(urls, calls) {
    this.#urls = urls;
    this.#calls = calls;
  }

  /**
   * A request through the proxy; the server's result as it came. What takes longer than a moment
   * is answered over the event stream, and `progress(data)` called for what is reported until then.
   * Throws `NeedsYes` for a call that a person is to be asked about; `approval` is their answer.
   */
  call(method, params, signal, progress = () => undefined, approval = undefined) {
    return this.#inTurn(signal, async (leave) => {
      const { id, stream, answer, forget } = this.#calls.expect(progress);
      const cancel = () => this.#cancel(id);
      this.#sent.set(id, cancel);
      signal.addEventListener("abort", cancel);
      try {
        const body = { method, params, approval, call: id, ...(stream === null ? {} : { stream }) };
        const response = await post(this.#urls.rpcUrl, body, signal);
        if (response !== LATER) return resultOf(response);
        leave(); // nothing is held open for what comes over the stream
        return resultOf(stream === null ? undefined : await unlessAborted(answer, signal));
      } finally {
        forget();
        this.#sent.delete(id);
        signal.removeEventListener("abort", cancel);
      }
    });
  }

  /** Tells the server that a person said no. Best effort: without it the handle dies by itself. */
  decline(method, params, handle) {
    post(this.#urls.rpcUrl, { method, params, approval: { handle, answer: "no" } }).catch(() => undefined);
  }

  /** A message (`kind` "message") or model context ("context") for the agent, as the view sent it. */
  tell(kind, params, signal) {
    return this.#inTurn(signal, async () => resultOf(await post(this.#urls.messageUrl, { kind, params }, signal)));
  }

  /**
   * For the audit trail: what became of a `kind` "link" (`details.url`) or "download"
   * (`details.sizes`). `answer` is "confirmed", "declined" or, where nobody was asked, "refused".
   */
  seen(kind, answer, details) {
    if (this.#telling >= TELLING) return;
    this.#telling += 1;
    send(this.#urls.seenUrl, { kind, answer, ...details }).finally(() => (this.#telling -= 1));
  }

  async #inTurn(signal, run) {
    if (this.#open >= OPEN) {
      throw new RpcError(-32000, "Too many requests at once", { reason: "busy" });
    }
    this.#open += 1;
    let leave = () => undefined;
    try {
      leave = await this.#lane.enter(signal);
      return await run(leave);
    } finally {
      leave();
      this.#open -= 1;
    }
  }

  /** The page goes and nobody waits any longer for what was asked. */
  abandon() {
    for (const cancel of this.#sent.values()) cancel();
  }

  #cancel(call) {
    // Best effort: a call that is not cancelled ends by itself, and the view has gone on.
    void send(this.#urls.cancelUrl, { call });
  }
}

/**
 * The server wants a person's yes: `ask` is `{handle, lasting}`. It stands beside the error that
 * the view could be told, so that an error of the MCP server's own is never taken for it.
 */
export class NeedsYes extends Error {
  constructor(ask) {
    super("a person is to be asked");
    this.ask = ask;
  }
}

/** Sends and does not look at the answer, also while the page goes away. */
function send(url, body) {
  return fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    credentials: "same-origin",
    redirect: "manual",
    keepalive: true,
  }).catch(() => undefined);
}

const LATER = Symbol("the answer comes over the event stream");

const unreachable = () =>
  new RpcError(-32603, "Vitrine's server could not be reached", { reason: "unreachable" });

/** `promise`, or the signal's own reason when that is aborted first. */
async function unlessAborted(promise, signal) {
  signal.throwIfAborted();
  let giveUp;
  const aborted = new Promise((_, reject) => {
    giveUp = () => reject(signal.reason);
    signal.addEventListener("abort", giveUp);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

async function post(url, body, signal) {
  let response;
  let answer;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
      credentials: "same-origin",
      redirect: "manual", // a redirect is the sign-in page, never an answer
      signal,
    });
    const text = await response.text();
    answer = parsed(text);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
  if (!response.ok) throw refusal(response, answer);
  return response.status === 202 ? LATER : (answer ?? undefined);
}

/** The result in an answer that came either way; null stands for one that cannot come any more. */
function resultOf(answer) {
  if (answer === null) throw unreachable();
  if (isObject(answer?.ask)) throw new NeedsYes(answer.ask);
  if (isObject(answer?.error)) throw passedOn(answer.error);
  if (!isObject(answer?.result)) {
    throw new RpcError(-32603, "Vitrine's server gave no usable answer", { reason: "garbage" });
  }
  return answer.result;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // judged by the caller, which knows the status
  }
}

/** The MCP server's or the proxy's own JSON-RPC error. */
function passedOn({ code, message, data }) {
  return new RpcError(
    Number.isInteger(code) ? code : -32603,
    typeof message === "string" ? message : "The server answered with an error",
    data,
  );
}

const REFUSALS = {
  401: [-32000, "Not signed in", "signed-out"],
  403: [-32000, "Not allowed", "denied"],
  404: [-32000, "This panel is no longer there", "gone"],
  409: [-32000, "This panel has changed; reload it", "gone"],
  410: [-32000, "This panel is no longer there", "gone"],
  413: [-32000, "The request is too large", "too-large"],
  429: [-32000, "Too many requests", "limit"],
};

/** An HTTP status that is no 2xx, with the server's own sentence where it gave one. */
function refusal(response, answer) {
  const signedOut = response.type === "opaqueredirect";
  const [code, text, reason] =
    REFUSALS[signedOut ? 401 : response.status] ?? [-32603, "Vitrine's server failed", "server-error"];
  const seconds = Number(response.headers.get("Retry-After") ?? "");
  return new RpcError(code, sentence(answer) ?? text, {
    reason,
    retryAfterMs: response.status === 429 && seconds > 0 ? seconds * 1000 : undefined,
  });
}

function sentence(answer) {
  const given = answer?.error?.message ?? answer?.error ?? answer?.detail ?? answer?.sentence;
  return typeof given === "string" && given !== "" ? given : undefined;
}

/**
 * A tool call that goes out only with a person's yes.
 *
 * Vitrine's server decides which calls those are, and answers them with a handle for exactly what
 * was asked. The person sees that, outside the view; their yes is the same call again with the
 * handle, which works once. The view gets neither: only the result, or that it was denied.
 */

import { RpcError } from "./protocol.js";
import { NeedsYes } from "./remote.js";
import { visible } from "./text.js";

const SHOWN = 20_000; // characters of the arguments
const NAME = 1_100; // characters of a tool's name: all of them

const LASTING =
  "Its server does not mark this tool as read-only. Allowed for this session, this view may call it with any " +
  "arguments, until you revoke that in the server’s settings.";

const denied = () => new RpcError(-32000, "Denied", { reason: "denied" });

export class Consent {
  #panel;
  #session = new Map(); // tool -> when it was allowed for the rest of the session

  /** `panel` has `remote`, `asker`, `log`, `server` and `tool` (their names). */
  constructor(panel) {
    this.#panel = panel;
  }

  /** The result of `tools/call` with `params`, after a person's yes where the server wants one. */
  async call(params, signal, progress) {
    const { remote } = this.#panel;
    const method = "tools/call";
    try {
      return await remote.call(method, params, signal, progress);
    } catch (error) {
      if (!(error instanceof NeedsYes)) throw error;
      const { handle, lasting } = error.ask;
      const answer = await this.#ask(params, lasting === true, signal);
      signal.throwIfAborted();
      if (answer === null) {
        remote.decline(method, params, handle);
        throw denied();
      }
      // Allowed for the session while this question waited behind the one that was answered so.
      const approval = answer === GRANTED ? undefined : { handle, answer };
      return await this.#again(method, params, signal, progress, approval);
    }
  }

  async #again(method, params, signal, progress, approval) {
    try {
      return await this.#panel.remote.call(method, params, signal, progress, approval);
    } catch (error) {
      // What was allowed a moment ago is not any more.
      if (error instanceof NeedsYes) throw denied();
      throw error;
    }
  }

  async #ask(params, lasting, signal) {
    const { asker, log } = this.#panel;
    const { name } = params;
    const since = performance.now();
    const answer = await asker.choose({
      title: lasting ? "Let this view call a tool?" : "Let this view make a destructive call?",
      lines: this.#lines(params, lasting),
      choices: [
        { label: "Allow once", value: "once" },
        ...(lasting ? [{ label: "Allow for this session", value: "session" }] : []),
      ],
      refuse: "Don’t allow",
      signal,
      // Only what was said since: the server asks again for what was revoked.
      already: () => (lasting && this.#session.get(name) > since ? GRANTED : null),
    });
    if (answer === "session") this.#session.set(name, performance.now());
    if (answer === null) log.add("host", "warning", `a call of ${visible(name, 200)} was not allowed`);
    return answer;
  }

  #lines({ name, arguments: given }, lasting) {
    const { server, tool } = this.#panel;
    const who = line("p", `The view of ${visible(`${server}/${tool}`, 400)} asks to call`);
    const facts = document.createElement("dl");
    facts.className = "panel-dialog-facts";
    const text = JSON.stringify(given ?? {}, null, 2);
    const shown = line("pre", visible(text, SHOWN));
    shown.className = "panel-dialog-arguments";
    shown.tabIndex = 0;
    shown.setAttribute("role", "group");
    shown.setAttribute("aria-label", "Arguments");
    const cells = [["Tool", line("strong", visible(name, NAME))], ["Server", visible(server, 400)], ["Arguments", shown]];
    for (const [label, value] of cells) {
      const cell = document.createElement("dd");
      cell.append(value);
      facts.append(line("dt", label), cell);
    }
    const lines = [who, facts];
    if (text.length > SHOWN) {
      const rest = (text.length - SHOWN).toLocaleString("en");
      lines.push(warning(`${rest} more characters of the arguments are not shown.`));
    }
    lines.push(
      lasting
        ? line("p", LASTING)
        : warning("Its server marks this tool as destructive: it may delete or overwrite something."),
    );
    return lines;
  }
}

const GRANTED = "granted";

function line(name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

function warning(text) {
  const element = line("p", text);
  element.className = "panel-dialog-warning";
  return element;
}

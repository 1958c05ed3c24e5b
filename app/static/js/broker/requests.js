/** What a view may ask for, and how each request is met. */

import { DISPLAY_MODES } from "./context.js";
import { answered } from "./dialogs.js";
import { download } from "./download.js";
import { cleanResult, isObject } from "./json.js";
import { RpcError, Verbatim } from "./protocol.js";
import { visible } from "./text.js";

// Said by a host only, so a view that says them is confused or pretending.
const HOST_ONLY = ["tool-input", "tool-input-partial", "tool-result", "tool-cancelled", "host-context-changed"];
const SANDBOX = ["sandbox-proxy-ready", "sandbox-resource-ready"];
const FORWARDED = ["resources/read", "tools/list", "resources/list", "resources/templates/list"];
const MESSAGES = { "ui/message": "message", "ui/update-model-context": "context" };

/**
 * Handlers for `Connection`. `panel` has `session`, `remote`, `consent`, `fullscreen`, `asker`,
 * `log`, `appTools`, `server` and `tool` (their names), and `notify(method, params)`, `greeted()`,
 * `asked(height)`, `told(kind)` and `close()`.
 */
export function handlers(panel) {
  const { session, log } = panel;
  const requests = new Map([
    ["ui/initialize", (params) => {
      panel.greeted();
      return session.initialize(params);
    }],
    ["ping", () => ({})],
    ["tools/call", (params, signal) => call(panel, params, signal)],
    ...FORWARDED.map((method) => [method, (params, signal) => forward(panel, method, params, signal)]),
    ["ui/open-link", async ({ url }) => ((await openLink(panel, url)) ? {} : { isError: true })],
    ["ui/download-file", async ({ contents }) => ((await download(panel, contents)) ? {} : { isError: true })],
    ["ui/request-display-mode", ({ mode }) => ({ mode: displayMode(panel, mode) })],
  ]);
  for (const method of Object.keys(MESSAGES)) {
    requests.set(method, (params, signal) => tell(panel, method, params, signal));
  }
  const notifications = new Map([
    ["ui/notifications/initialized", () => session.initialized()],
    ["ui/notifications/size-changed", ({ height }) => {
      if (!panel.fullscreen.active) panel.asked(height);
    }],
    ["ui/notifications/request-teardown", () => panel.close()],
    ["notifications/message", ({ level, logger, data }) => {
      const name = typeof logger === "string" && logger !== "" ? `[${visible(logger, 60)}] ` : "";
      const text = typeof data === "string" ? data : JSON.stringify(data) ?? "";
      log.add("view", logLevel(level), name + text);
    }],
    ["notifications/progress", () => undefined], // requests to the view carry no progress token
    ["notifications/tools/list_changed", () => panel.appTools.refresh()],
  ]);
  for (const name of [...HOST_ONLY, ...SANDBOX]) {
    notifications.set(`ui/notifications/${name}`, () => {
      log.add("host", "warning", `the view sent ui/notifications/${name}, which is the host's to send; ignored`);
    });
  }
  return { requests, notifications };
}

const LEVELS = new Set(["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);
const logLevel = (level) => (LEVELS.has(level) ? level : "info");

async function call(panel, params, signal) {
  if (typeof params.name !== "string") throw new RpcError(-32602, "tools/call needs the tool's name");
  return new Verbatim(cleanResult(await panel.consent.call(params, signal, reporter(panel, params, signal))));
}

async function forward(panel, method, params, signal) {
  return new Verbatim(await panel.remote.call(method, params, signal, reporter(panel, params, signal)));
}

/** Passes on what the server reports on the way: the official views wait longer for that. */
function reporter({ notify }, params, signal) {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  const isToken = typeof token === "string" || Number.isFinite(token);
  return ({ progress: done, total, message }) => {
    if (!isToken || signal.aborted) return;
    notify("notifications/progress", {
      progressToken: token,
      progress: done,
      total: Number.isFinite(total) ? total : undefined,
      message: typeof message === "string" ? message : undefined,
    });
  };
}

/** A message that could not be delivered is an `isError` result; malformed params are an error. */
async function tell(panel, method, params, signal) {
  const kind = MESSAGES[method];
  try {
    await panel.remote.tell(kind, params, signal);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    panel.log.add("host", "warning", `${method} was refused: ${error.message}`);
    if (kind === "context" || error.code === -32602) throw error;
    return { isError: true };
  }
  panel.told(kind);
  return {};
}

/** Asks the person, showing the whole address, and opens it on their click. */
export async function openLink(panel, given) {
  const url = safeUrl(given);
  if (url === null) {
    panel.log.add("host", "warning", `a link that is no plain http or https address was refused: ${visible(given, 200)}`);
    panel.remote.seen("link", "refused", { url: typeof given === "string" ? given.slice(0, 8000) : "" });
    return false;
  }
  const who = document.createElement("p");
  const host = document.createElement("strong");
  host.textContent = visible(url.host, 300);
  who.append(`The view of ${visible(`${panel.server}/${panel.tool}`, 200)} asks to open a page on `, host, ":");
  const whole = document.createElement("p");
  whole.className = "panel-dialog-url";
  whole.textContent = visible(url.href, 10_000);
  const opened = await panel.asker.ask({
    title: "Open this link?",
    lines: [who, whole],
    confirm: "Open link",
    run: () => window.open(url.href, "_blank", "noopener,noreferrer"),
  });
  panel.remote.seen("link", answered(opened, who), { url: url.href.slice(0, 8000) });
  return opened;
}

/** An http or https URL without a name or password, which serve to disguise the host; or null. */
function safeUrl(given) {
  if (typeof given !== "string" || given.length > 8000) return null;
  let url;
  try {
    url = new URL(given);
  } catch {
    return null;
  }
  const plain = ["http:", "https:"].includes(url.protocol) && url.username === "" && url.password === "";
  return plain ? url : null;
}

/** Changes the mode if that can be; the mode that is in force afterwards. */
function displayMode({ session, fullscreen, wasPressed }, mode) {
  if (DISPLAY_MODES.includes(mode) && session.accepts(mode)) {
    if (mode === "inline") fullscreen.leave();
    // Only after a press or a key in the view: it must not take the screen from who reads.
    else if (wasPressed) fullscreen.enter();
  }
  return fullscreen.active ? "fullscreen" : "inline";
}

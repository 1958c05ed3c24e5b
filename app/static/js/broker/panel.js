/**
 * One panel: puts a view's frame into the server's markup, wires the broker's parts together and
 * takes everything down again.
 *
 * Markup, made by the server: `[data-panel]` with `data-fragment-url`, `data-rpc-url`,
 * `data-message-url`, `data-cancel-url`, `data-result-url`, `data-nonce`; in it
 * `script[data-panel-data]` (JSON), `.panel-bar`, `[data-panel-frame]` and `[data-panel-notice]`; around it the slot, `.panel-slot[hx-get]`.
 */

import { AppTools } from "./app_tools.js";
import { Asker } from "./dialogs.js";
import { Chrome } from "./chrome.js";
import { Consent } from "./consent.js";
import { Connection } from "./protocol.js";
import { allowed, hostContext, watchTheme } from "./context.js";
import { FramePort } from "./port.js";
import { makeFrame, watchLoads } from "./frame.js";
import { Fullscreen } from "./fullscreen.js";
import { handlers, openLink } from "./requests.js";
import { guardFocus } from "./focus.js";
import { Liveness } from "./liveness.js";
import { Log } from "./log.js";
import { Needs } from "./needs.js";
import { Remote } from "./remote.js";
import { Session } from "./session.js";
import { Sizing, isHeight, maxHeight } from "./sizing.js";
import { Startup } from "./startup.js";
import { reloadSlot } from "./reload.js";
import { isObject } from "./json.js";
import { lateResult } from "./late_result.js";
import { resultNotice } from "./result_notice.js";
import { Vitals } from "./vitals.js";

const ACTIVATION = 5_000; // ms
const SIGN_WITHIN = 3_000; // ms, when somebody asks
const SETTLED = 1_000; // ms after which what a view was refused is told, all at once
const MUTED = "You refused what this view asked for. It is refused without asking until the view is reloaded.";
const GRABBED = "The view took the keyboard while you were being asked something, and was stopped.";
const panels = new Map(); // section -> Panel
const broken = new WeakSet(); // sections that could not be read

export class Panel {
  #section;
  #data;
  #chrome;
  #frame;
  #box;
  #port;
  #connection;
  #liveness;
  #startup;
  #needs = new Needs();
  #vitals;
  #needsTimer;
  #ended = new AbortController();
  #closing = null;
  #told = { message: 0, context: 0 };
  #strays = 0;
  #pressedAt = -Infinity;

  /** `live` is the page's event stream and `calls` the calls that are answered over it. */
  constructor(section, data, { live, calls }) {
    const { signal } = this.#ended;
    this.#section = section;
    this.#data = data;
    this.server = data.server;
    this.tool = data.tool;
    this.#box = section.querySelector("[data-panel-frame]");
    this.#chrome = new Chrome(section, () => this.#toggleFullscreen());
    const { foot } = this.#chrome;
    this.log = new Log(foot);
    this.#vitals = new Vitals(foot, this.#needs, () => this.isAlive(SIGN_WITHIN), signal);
    this.asker = new Asker(section, signal, () => this.#chrome.say("muted", MUTED, { reload: true }));
    this.fullscreen = new Fullscreen(section, (active) => this.#modeChanged(active), signal);
    this.sizing = new Sizing(
      this.#box,
      () => this.log.add("host", "warning", "the view's height follows its own frame's; it is held where that began"),
      signal,
    );
    this.remote = new Remote(section.dataset, calls);
    this.consent = new Consent(this);
    this.session = new Session(data, () => hostContext(data, this.#place()), (capabilities) => this.#ready(capabilities));
    this.appTools = new AppTools(
      (method, params, ms) => this.ask(method, params, ms),
      (tools) => this.#chrome.offers(tools),
      signal,
    );
    this.#sayResult();
    const address = new URL(section.dataset.fragmentUrl, document.baseURI).href;
    this.#startup = new Startup(this.#chrome, (why) => this.#fail(why), this.#needs, address, signal);
    this.#insert(signal);
    const { requests, notifications } = handlers(this);
    this.#connection = new Connection(requests, notifications, {
      send: (message) => this.#port.send(message),
      odd: (text) => this.log.add("host", "warning", text),
      flood: () => this.#fail("This view sent too many messages and was stopped."),
    });
    this.notify = (method, params) => this.#connection.notify(method, params);
    this.session.attach(this.#connection);
    live.on("listed", (change) => this.#listed(change), signal);
    this.#watch(signal);
    this.#box.append(this.#frame);
  }

  /** The frame with its listeners, ready to be appended: nothing it says first may be lost. */
  #insert(signal) {
    const { frameTitle, tool, server, permissions } = this.#data;
    this.#frame = makeFrame(frameTitle ?? `View of ${tool} from ${server}`, allowed(permissions));
    this.#port = new FramePort(this.#frame, this.#section.dataset.nonce, {
      message: (message) => {
        this.#vitals.sign();
        this.#connection.receive(message);
      },
      control: (message) => this.#control(message),
      stray: () => this.#stray(),
      close: () => this.#fail("The view's page went away."),
    });
    this.#liveness = new Liveness((n) => this.#port.ping(n), {
      silent: () => {
        this.fullscreen.leave(); // Escape pressed in a dead document reaches nobody
        this.#chrome.say("alive", "The view does not answer. It may be busy, or have crashed.", {
          level: "warning",
          items: this.#needs.sentences(this.session.isReady),
          reload: true,
        });
      },
      back: () => this.#chrome.unsay("alive"),
    }, signal);
    watchLoads(this.#frame, {
      first: () => {
        this.#vitals.reached("loaded");
        this.#startup.loaded();
      },
      another: () => this.#fail("The view tried to leave its page and was closed."),
    }, signal);
    this.#frame.addEventListener("grab", () => this.#fail(GRABBED), { signal });
    this.#frame.src = this.#section.dataset.fragmentUrl;
  }

  #watch(signal) {
    const changed = () => this.session.contextChanged();
    watchTheme(changed, signal);
    guardFocus(this.#frame, () => this.#pressedAt, () => this.fullscreen.active, signal);
    let timer;
    const resized = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(changed, 150);
    });
    resized.observe(this.#box);
    signal.addEventListener("abort", () => {
      resized.disconnect();
      clearTimeout(timer);
      clearTimeout(this.#needsTimer);
    }, { once: true });
  }

  #sayResult() {
    const notice = resultNotice(this.#data);
    if (notice === null) this.#chrome.unsay("result");
    else this.#chrome.say("result", notice.text, notice);
  }

  /** Looks whether the call is over that was running when the panel was made, and tells the view. */
  async settle() {
    if (this.#data.state !== "pending") return;
    const late = await lateResult(this.#section.dataset.resultUrl);
    if (this.#ended.signal.aborted || !this.session.settle(late)) return;
    this.#sayResult();
    if (isObject(late.toolResult)) this.#chrome.addResult(late.toolResult);
  }

  /** The server's list of tools or resources has changed. */
  #listed({ server, what }) {
    if (server !== this.#data.serverKey || !this.session.isReady) return;
    if (what === "tools" || what === "resources") this.notify(`notifications/${what}/list_changed`, {});
  }

  #place() {
    const { clientWidth: width, clientHeight: height } = this.#box;
    const displayMode = this.fullscreen.active ? "fullscreen" : "inline";
    return { displayMode, width, height, maxHeight: maxHeight() };
  }

  #ready(capabilities) {
    this.#vitals.reached("initialized");
    this.appTools.start(capabilities);
    this.#startup.ready();
    this.#section.dataset.panelState = "ready";
    this.#tellNeeds();
  }

  #control(message) {
    if (this.#ended.signal.aborted || !this.#connection.take(1)) return;
    this.#vitals.sign();
    switch (message.vitrine) {
      case "open":
        this.#vitals.reached("opened");
        this.#startup.opened();
        break;
      case "pong":
        this.#liveness.pong(message.n);
        break;
      case "violation":
        this.#violation(message);
        break;
      case "error":
        this.#startup.problem(`error: ${message.message}`);
        this.#vitals.failed(message.message);
        this.log.add("view", "error", message.message);
        break;
      case "link":
        void openLink(this, message.url);
        break;
      case "gesture":
        this.#pressedAt = performance.now();
        break;
      case "escape":
        this.fullscreen.leave();
        break;
      default:
        break;
    }
  }

  #violation({ directive, blocked, source, line }) {
    const text = `${directive} blocked ${blocked}`;
    this.#needs.add({ directive, blocked }, new URL(this.#frame.src).origin);
    this.#tellNeeds();
    // Views built with Zod try eval once and go on without it: no news on a view that works.
    const probe = blocked === "eval" ? " (harmless where it is the view's own probe)" : "";
    // The document's own address is spent and says nothing.
    const where = source ? ` in ${source === this.#frame.src ? "line " : `${source}:`}${line}` : "";
    this.log.add("host", probe ? "info" : "warning", text + where + probe);
  }

  /** Says in plain words what a running view tried and does not get. */
  #tellNeeds() {
    if (!this.session.isReady) return; // until then the start-up tells it
    clearTimeout(this.#needsTimer);
    this.#needsTimer = setTimeout(() => {
      const items = this.#needs.sentences(true);
      if (items.length > 0) this.#chrome.say("needs", "The view does not get all that it asks for:", { items });
    }, SETTLED);
  }

  #stray() {
    this.#strays += 1;
    if (this.#strays <= 20) {
      this.log.add("host", "warning", "the view posted a message past its port; ignored");
    }
  }

  #toggleFullscreen() {
    if (this.fullscreen.active) this.fullscreen.leave();
    else this.fullscreen.enter();
  }

  #modeChanged(active) {
    this.#chrome.showFullscreen(active);
    this.session.contextChanged();
  }

  /** Whether a person pressed something in the view a moment ago, as browsers reckon it. */
  get wasPressed() {
    return performance.now() - this.#pressedAt < ACTIVATION;
  }

  /** The view asked to be let in. */
  greeted() {
    this.#vitals.reached("initialize");
  }

  /** The view asked for a height. */
  asked(height) {
    if (!isHeight(height)) return;
    this.#vitals.asked(height);
    this.sizing.report(height);
  }

  /** Says under the frame what the view has told the agent. */
  told(kind) {
    this.#told[kind] += 1;
    const { outboxUrl } = this.#section.dataset;
    const count = this.#told.message;
    const text =
      count === 0
        ? "This view set context for the agent. It waits in the outbox."
        : `This view sent ${count === 1 ? "a message" : `${count} messages`} to the agent. It waits in the outbox.`;
    this.#chrome.say("outbox", count > 1 ? text.replace("It waits", "They wait") : text, {
      links: outboxUrl ? [["Outbox", outboxUrl]] : [],
    });
  }

  /** Asks the view itself; `{result, error}`, or `{}` when there is no answer within `ms`. */
  ask(method, params, ms) {
    return this.#connection.request(method, params, ms);
  }

  /** Calls a tool that the view itself offers; throws an `RpcError` once the view is closed. */
  callAppTool(name, args = {}) {
    return this.appTools.call(name, args);
  }

  /** Whether the view's document still answers. */
  isAlive(ms) {
    return this.#port.isOpen ? this.#liveness.check(ms) : Promise.resolve(false);
  }

  /** Lets the view end by itself, then takes it down. Safe to call more than once. */
  teardown(reason) {
    this.#closing ??= this.session.teardown(reason).then(() => this.dispose());
    return this.#closing;
  }

  /** At the view's own wish: ends it and says so. */
  async close() {
    await this.teardown("The view asked to be closed");
    this.#gone("The view closed itself.", "info");
  }

  /** Replaces the panel by a new one from the server. */
  async reload() {
    const slot = this.#section.closest(".panel-slot");
    await this.teardown("The panel is reloaded");
    if (slot === null) window.location.reload();
    else await reloadSlot(slot);
  }

  #fail(why) {
    if (this.#ended.signal.aborted) return;
    this.dispose();
    this.#gone(why, "danger");
  }

  #gone(why, level) {
    if (!this.#section.isConnected) return;
    this.#section.dataset.panelState = "closed";
    this.#vitals.ended(why);
    this.#box.classList.remove("is-sized");
    this.#chrome.closed();
    this.#chrome.say("gone", why, { level, reload: true });
  }

  /** Takes the view down at once; the panel's chrome and log stay. */
  dispose() {
    this.#ended.abort();
    this.#connection.close();
    this.#port.close();
    this.#frame.remove();
  }

  /** Best effort when the page itself goes, or is kept by the browser: nobody waits for an answer. */
  leaving(isKept) {
    if (!isKept) void this.session.teardown("The page is closed");
    this.remote.abandon();
  }
}

/**
 * Mounts every panel in `root` that is not mounted yet; a panel without a fragment stays as is.
 * `page` holds what the panels of a page share: `live` and `calls`.
 */
export function mountPanels(page, root = document) {
  for (const section of root.querySelectorAll("[data-panel][data-fragment-url]")) {
    if (panels.has(section) || broken.has(section)) continue;
    try {
      const data = JSON.parse(section.querySelector("[data-panel-data]").textContent);
      panels.set(section, new Panel(section, data, page));
    } catch (error) {
      // One panel that cannot be read must not keep the others from starting.
      broken.add(section);
      section.dataset.panelState = "closed";
      section.querySelector("[data-panel-notice]")?.replaceChildren("This view could not be started.");
      console.error("vitrine: a panel could not be started", error);
    }
  }
}

/** The mounted panels in `root`. */
export function panelsIn(root) {
  return [...panels].filter(([section]) => root.contains(section)).map(([, panel]) => panel);
}

/** The panel that `element` belongs to, if it is mounted. */
export function panelOf(element) {
  return panels.get(element.closest("[data-panel]"));
}

/** Takes down the panels that are no longer in the page. */
export function disposeRemoved() {
  for (const [section, panel] of panels) {
    if (section.isConnected) continue;
    panels.delete(section);
    panel.dispose();
  }
}

/** The page's entry: mounts the panels that the server sends, and takes them down in time. */

import { Calls } from "./live/calls.js";
import { Live } from "./live/live.js";
import { Rows } from "./live/rows.js";
import { watchActivity } from "./live/activity.js";
import { watchSessions } from "./live/session_list.js";
import { watchConfinement } from "./broker/confinement.js";
import { disposeRemoved, mountPanels, panelOf, panelsIn } from "./broker/panel.js";
import { reloadSlot } from "./broker/reload.js";

const REPLACING = new Set(["innerHTML", "outerHTML", "outerSync", "textContent", "delete"]);
const ALIVE_WITHIN = 2_000; // ms, after the browser brought a kept page back

const { eventsUrl, eventsWorker } = document.body.dataset;
const live = new Live(eventsUrl, eventsWorker);
const page = { live, calls: new Calls(live) };

// Whoever inserts or removes a panel, htmx or a reload, it is seen here.
new MutationObserver(() => {
  disposeRemoved();
  mountPanels(page);
}).observe(document.documentElement, { childList: true, subtree: true });
mountPanels(page);

const transcript = document.querySelector(".transcript[data-entries-url]");
if (transcript !== null) new Rows(transcript, live);
if (document.querySelector("[data-session-list]") !== null) watchSessions(live);
watchActivity(live);
watchConfinement();

// htmx is about to replace what holds running views: they end by themselves first, then the same
// swap is done again.
const settled = new WeakSet();
document.addEventListener("htmx:before:swap", (event) => {
  const { ctx, tasks = [] } = event.detail;
  if (settled.has(ctx)) return;
  const doomed = tasks.filter(({ swapSpec }) => REPLACING.has(swapSpec?.style)).flatMap(({ target }) => {
    const element = typeof target === "string" ? document.querySelector(target) : target;
    return element instanceof Element ? panelsIn(element) : [];
  });
  if (doomed.length === 0) return;
  event.preventDefault();
  settled.add(ctx);
  void Promise.all(doomed.map((panel) => panel.teardown("The panel is removed"))).then(() =>
    window.htmx.swap(ctx),
  );
});

document.addEventListener("click", (event) => {
  const control = event.target instanceof Element ? event.target.closest("[data-panel-reload]") : null;
  if (control === null) return;
  const slot = control.closest(".panel-slot");
  void reload(panelOf(control), slot, control);
});

/** Loads a panel anew; where that fails the button says so and can be pressed again. */
async function reload(panel, slot, control) {
  if (control.ariaBusy === "true") return; // not disabled: that would drop the focus
  control.ariaBusy = "true";
  try {
    if (panel !== undefined) await panel.reload();
    else if (slot !== null) await reloadSlot(slot);
  } catch {
    control.textContent = "Vitrine could not be reached. Try again";
  }
  control.ariaBusy = null;
}

window.addEventListener("pagehide", (event) => {
  for (const panel of panelsIn(document)) panel.leaving(event.persisted);
  live.leave();
});

// A page that the browser kept and shows again may hold dead frames, and their tickets are spent.
window.addEventListener("pageshow", async (event) => {
  if (!event.persisted) return;
  live.comeBack();
  for (const panel of panelsIn(document)) {
    if (!(await panel.isAlive(ALIVE_WITHIN))) await panel.reload();
  }
});

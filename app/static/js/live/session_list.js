/** The list of sessions: a new one, or one that has grown, appears without a reload. */

import { getHtml } from "../broker/html.js";

const GATHER = 1_000; // ms: a session that is being written changes many times a second

export function watchSessions(live) {
  let timer;
  const renew = async () => {
    const { ok, page } = await getHtml(window.location.href);
    if (!ok) return; // signed out or restarting: the next change tries again
    const fresh = page.querySelector("[data-session-list]");
    const current = document.querySelector("[data-session-list]");
    // A question that somebody has opened is not taken away from under them.
    if (fresh === null || current === null || current.querySelector("details[open]") !== null) return;
    // Somebody who is on an item with the keyboard keeps it.
    const focused = current.contains(document.activeElement) ? document.activeElement.href : undefined;
    current.replaceChildren(...fresh.childNodes);
    if (focused !== undefined) {
      [...current.querySelectorAll("a")].find(({ href }) => href === focused)?.focus({ preventScroll: true });
    }
    document.dispatchEvent(new CustomEvent("vitrine:rows"));
  };
  const look = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void renew().catch((error) => console.error("vitrine: the list could not be brought up to date", error));
    }, GATHER);
  };
  live.on("rows", look);
  live.on("lost", look);
}

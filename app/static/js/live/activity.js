/** The badge that says whether a session's agent works, waits or has ended. */

const WORDS = { working: "working", waiting: "waiting for you", ended: "ended" };

/** Keeps every badge of the page up to date. */
export function watchActivity(live) {
  const show = (badge, state) => {
    if (!Object.hasOwn(WORDS, state)) return;
    badge.dataset.state = state;
    badge.textContent = WORDS[state];
    badge.hidden = badge.dataset.activityBrief !== undefined && state === "ended";
  };
  live.on("activity", ({ session, state }) => {
    for (const badge of document.querySelectorAll("[data-activity]")) {
      if (badge.dataset.activity === session) show(badge, state);
    }
  });
}

/** Getting a panel anew: its ticket works once, so the whole panel is asked for again. */

import { getFragment } from "./html.js";

/** Replaces the contents of the panel's slot; throws when the server cannot be reached. */
export async function reloadSlot(slot) {
  const { isSignedOut, page } = await getFragment(slot.getAttribute("hx-get"));
  if (isSignedOut) {
    window.location.reload(); // the page itself leads to the sign-in
    return;
  }
  const hadFocus = slot.contains(document.activeElement);
  slot.replaceChildren(...page.body.childNodes);
  window.htmx?.process(slot);
  if (hadFocus) {
    slot.tabIndex = -1;
    slot.focus({ preventScroll: true });
  }
}

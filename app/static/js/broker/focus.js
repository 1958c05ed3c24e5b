/**
 * Focus that a view takes by itself is given back: who types on the page must not find the keys
 * going to somebody else's script.
 *
 * A person brings the focus into a view by a press in it, which the prelude reports, or with the
 * Tab key on this page.
 */

const WAIT = 250; // ms in which the report of a press may still be on its way
const RECENT = 1_000; // ms
const GRABS = 3; // of the focus by one view while a question is open
const MOVING = new Set(["Tab", "F6"]);

let lastMove = -Infinity;
let lastFocused = null;

document.addEventListener("keydown", ({ key }) => {
  if (MOVING.has(key)) lastMove = performance.now();
}, true);
document.addEventListener("focusin", ({ target }) => {
  if (!(target instanceof HTMLIFrameElement)) lastFocused = target;
});
document.addEventListener("focusout", () => {
  // What lost the focus to nothing is no place to give it back to.
  setTimeout(() => {
    if (document.activeElement === document.body) lastFocused = null;
  });
});

/**
 * `pressedAt()` is when the person last pressed something in the view; where `isAllowed()` a view
 * may have the focus. Ends with `signal`.
 */
export function guardFocus(frame, pressedAt, isAllowed, signal) {
  window.addEventListener("blur", () => {
    if (document.activeElement !== frame) return;
    const at = performance.now();
    const home = lastFocused;
    if (at - lastMove < RECENT) return;
    setTimeout(() => {
      const wasPressed = pressedAt() > at - RECENT;
      if (wasPressed || signal.aborted || isAllowed() || document.activeElement !== frame) return;
      frame.blur();
      window.focus();
      if (home?.isConnected) home.focus({ preventScroll: true });
    }, WAIT);
  }, { signal });
}

/**
 * Keeps the focus in `dialog` while it is open, until `signal`. A browser that lets nobody else
 * into what lies under a dialog still lets the script of a frame take the focus there. A view that
 * does so again and again gets the event `grab` at its frame.
 */
export function keepFocus(dialog, signal) {
  const grabs = new Map();
  window.addEventListener("blur", () => {
    const frame = document.activeElement;
    if (!(frame instanceof HTMLIFrameElement)) return;
    // Not within the event: the browser would go on to give the frame what it has asked for.
    setTimeout(() => {
      if (signal.aborted) return;
      frame.blur();
      window.focus();
      dialog.focus();
    });
    const count = (grabs.get(frame) ?? 0) + 1;
    grabs.set(frame, count);
    if (count > GRABS) frame.dispatchEvent(new Event("grab"));
  }, { signal });
}

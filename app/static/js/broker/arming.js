/**
 * Buttons that take no press that was meant for something else.
 *
 * A question can open under a pointer that is about to click, or in the middle of a word: a view
 * chooses the moment. So its buttons are dead until the person has let go of pointer and keyboard
 * for a moment, and again after they come back to the page.
 */

const ARM_AFTER = 800; // ms

/**
 * Arms `buttons` of `dialog` after a quiet moment, and puts the focus on `first` then. Ends with
 * `signal`.
 */
export function arm(dialog, buttons, first, signal) {
  let timer;
  let away = false;
  const set = (disabled) => {
    for (const button of buttons) button.disabled = disabled;
  };
  const start = () => {
    clearTimeout(timer);
    // A button that is disabled loses the focus to nothing.
    if (!dialog.contains(document.activeElement) || buttons.includes(document.activeElement)) dialog.focus();
    set(true);
    timer = setTimeout(() => {
      timer = undefined;
      set(false);
      if (document.activeElement === dialog) first.focus();
    }, ARM_AFTER);
  };
  start();
  const input = (event) => {
    if (timer !== undefined && event.key !== "Escape") start();
    // A key that is held down since before is not pressed anew.
    if (event.repeat && ["Enter", " "].includes(event.key)) event.preventDefault();
  };
  for (const name of ["keydown", "pointerdown"]) {
    document.addEventListener(name, input, { capture: true, signal });
  }
  // Focus that moves between the page and a view in it is no absence: a press is not to be lost.
  const left = () => {
    away ||= !document.hasFocus();
  };
  const back = () => {
    if (away) start();
    away = false;
  };
  window.addEventListener("blur", left, { signal });
  window.addEventListener("focus", back, { signal });
  document.addEventListener("visibilitychange", start, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
}

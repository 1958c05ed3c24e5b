/** The frame itself: made by script, given its document once, never moved. */

const SANDBOX = "allow-scripts allow-forms"; // the same as the document's own header says

/**
 * An iframe without a source yet. `title` names it for people who hear the page; `allow` holds the
 * permissions that it may use.
 */
export function makeFrame(title, allow) {
  const frame = document.createElement("iframe");
  frame.className = "panel-view";
  frame.setAttribute("sandbox", SANDBOX);
  frame.referrerPolicy = "no-referrer";
  frame.title = title;
  if (allow !== "") frame.allow = allow;
  return frame;
}

/**
 * Calls `first()` when the frame's document has loaded and `another()` when the frame loads
 * anything after it: a view that left its page, or the error page of a blocked attempt.
 */
export function watchLoads(frame, { first, another }, signal) {
  let loads = 0;
  frame.addEventListener(
    "load",
    () => {
      loads += 1;
      if (loads === 1) first();
      else another();
    },
    { signal },
  );
}

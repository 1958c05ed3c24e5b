/**
 * How far the reader's browser keeps a view in, found out by trying.
 *
 * No interface says whether a browser heeds `Connection-Allowlist`, and a proxy may drop it. So an
 * empty document of Vitrine's own, under that header, is asked to fetch what this page can fetch:
 * where the header holds it cannot.
 *
 * Markup: `[data-confinement]`, in a fold of a panel, holds the document's address.
 */

const PATIENCE = 10_000; // ms

const SENTENCES = {
  full: "This browser holds views to that: it refuses every other connection that Vitrine knows of.",
  partial:
    "This browser holds views to that only in part: it ignores Connection-Allowlist, or a proxy drops it. A view can " +
    "send no request and go nowhere, but two ways to any address stay open: WebRTC, and connections " +
    "opened ahead of time (preconnect).",
  unknown: "Whether this browser holds views to that could not be found out. Take it that it does so only in part.",
};

let known = null;

const reaches = (realm, url) =>
  realm.fetch(url, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** "full", "partial" or "unknown". */
async function probe(url) {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.title = "Trial of this browser";
  frame.src = url;
  try {
    await new Promise((resolve, reject) => {
      frame.addEventListener("load", resolve, { once: true });
      setTimeout(reject, PATIENCE, new Error("the document did not load"));
      document.body.append(frame);
    });
    let isPolicy = false; // then it was another rule that refused, and proves nothing
    frame.contentDocument.addEventListener("securitypolicyviolation", () => {
      isPolicy = true;
    });
    const [isFree, isOut] = await Promise.all([reaches(window, url), reaches(frame.contentWindow, url)]);
    if (isOut) return "partial";
    return isFree && !isPolicy ? "full" : "unknown";
  } catch {
    return "unknown";
  } finally {
    frame.remove();
  }
}

async function say(place) {
  known ??= probe(new URL(place.dataset.confinement, document.baseURI).href);
  const found = await known;
  if (found === "unknown") known = null; // the next look tries again
  place.textContent = SENTENCES[found];
  place.dataset.confined = found;
}

/** Says it in each panel's fold once somebody opens it. */
export function watchConfinement() {
  const opened = ({ target }) => {
    const place = target instanceof Element && target.open ? target.querySelector("[data-confinement]") : null;
    if (place !== null) void say(place);
  };
  document.addEventListener("toggle", opened, true); // it does not bubble
}

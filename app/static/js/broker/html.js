/** Asking for HTML of ours from within a page. */

/** `isSignedOut`: the answer leads to the sign-in, so `page` holds nothing. Throws when the server
 * cannot be reached. */
export async function getHtml(url, headers = {}) {
  const response = await fetch(url, {
    headers: { Accept: "text/html", ...headers },
    credentials: "same-origin",
    redirect: "manual",
  });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const { ok, status, type } = response;
  return { ok, status, isSignedOut: type === "opaqueredirect", page };
}

/** A piece of a page, as htmx would ask for it. */
export function getFragment(url) {
  return getHtml(url, { "HX-Request": "true" });
}

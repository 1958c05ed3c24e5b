/** The outcome of a call that was still running when its panel was made. */

/** `{state, toolResult?}` as recorded by now; throws where the server cannot be asked. */
export async function lateResult(url) {
  const response = await fetch(url, {
    headers: { Accept: "application/json" },
    credentials: "same-origin",
    redirect: "manual",
  });
  if (!response.ok) throw new Error(`the result could not be had: status ${response.status}`);
  return response.json();
}

/** Names that nobody can guess, in letters that stand in a URL as they are. */
export function randomId(bytes = 18) {
  const raw = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(raw, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

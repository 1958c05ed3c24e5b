/** Third-party text made safe to look at, as app/text.py does it on the server. */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
// Joiners are part of ordinary words in several scripts and of emoji; alone they are harmless.
const KEPT = new Set(["\n", "\t", "\u200c", "\u200d"]);

/** `text` cut to `limit` characters, hidden and direction-changing characters as `⟨U+202E⟩`. */
export function visible(text, limit = 500) {
  const whole = String(text);
  const cut = whole.length > limit ? `${whole.slice(0, limit - 1)}…` : whole;
  return cut.replace(HIDDEN, (char) =>
    KEPT.has(char)
      ? char
      : `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** `text` without its hidden and direction-changing characters. */
export function bare(text) {
  return text.replace(HIDDEN, "");
}

/** A value of any kind as one short text for the log. */
export function described(value, limit = 500) {
  if (typeof value === "string") return visible(value, limit);
  let text;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined; // cycles and BigInt: the type is all there is to say
  }
  return visible(text ?? typeof value, limit);
}

/** What a person should know about the recorded result beside what the view makes of it. */

import { isObject } from "./json.js";
import { visible } from "./text.js";

/** A notice (`text`, `level`, `reload`) for `Chrome.say`, or null when there is nothing to say. */
export function resultNotice({ state, toolResult }) {
  if (isObject(toolResult)) return toolResult.isError === true ? errorNotice(toolResult) : null;
  if (state === "pending") {
    return { text: "The tool has not answered yet. Reload the view when it has.", level: "info", reload: true };
  }
  if (state === "interrupted") {
    return { text: "The call was interrupted, so there is no result.", level: "warning" };
  }
  return { text: "The transcript does not hold the result of this call.", level: "warning" };
}

function errorNotice({ content }) {
  const texts = (Array.isArray(content) ? content : [])
    .filter((block) => isObject(block) && typeof block.text === "string")
    .map((block) => block.text);
  const text = visible(texts.join("\n"), 600);
  return { text: `The tool answered with an error${text ? `: ${text}` : "."}`, level: "danger" };
}

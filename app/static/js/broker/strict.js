/**
 * The last look at a hostContext before it is sent: the official views refuse to start on one
 * unknown style variable, one wrong word or one null.
 */

import { isObject, stripNulls } from "./json.js";

const COLOURS = ["primary", "secondary", "tertiary", "inverse", "ghost", "info", "danger", "success", "warning", "disabled"];
const KINDS = {
  color: `(?:background|text|border)-(?:${COLOURS.join("|")})`,
  ring: "(?:primary|secondary|inverse|info|danger|success|warning)",
  size: "(?:text-(?:xs|sm|md|lg)|heading-(?:xs|sm|md|lg|xl|2xl|3xl))",
};
/** Every variable that a host may set, and no other. */
const VARIABLE = new RegExp(
  `^--(?:color-(?:${KINDS.color}|ring-${KINDS.ring})|font-(?:sans|mono)` +
    `|font-weight-(?:normal|medium|semibold|bold)|font-${KINDS.size}-(?:size|line-height)` +
    "|border-radius-(?:xs|sm|md|lg|xl|full)|border-width-regular|shadow-(?:hairline|sm|md|lg))$",
);
const MODES = ["inline", "fullscreen", "pip"];

const isText = (value) => typeof value === "string" && value !== "";
const isLength = (value) => typeof value === "number" && value >= 0;
const oneOf = (...words) => (value) => words.includes(value);
const members = (test) => (value) => isObject(value) && Object.values(value).every(test);

const MEMBERS = {
  toolInfo: (value) => isObject(value?.tool) && value.tool.inputSchema?.type === "object",
  theme: oneOf("light", "dark"),
  styles: (value) => isObject(value?.variables),
  displayMode: oneOf(...MODES),
  availableDisplayModes: (value) => Array.isArray(value) && value.every(oneOf(...MODES)),
  containerDimensions: members(isLength),
  locale: isText,
  timeZone: isText,
  userAgent: isText,
  platform: oneOf("web", "desktop", "mobile"),
  deviceCapabilities: members((value) => typeof value === "boolean"),
  safeAreaInsets: members(isLength),
};

/** `context` without what a strict view would not take; what is left out is only missed. */
export function strictContext(context) {
  const clean = stripNulls(context);
  if (isObject(clean.styles?.variables)) {
    const variables = Object.entries(clean.styles.variables).filter(
      ([name, value]) => VARIABLE.test(name) && isText(value),
    );
    clean.styles = { variables: Object.fromEntries(variables) };
  }
  return Object.fromEntries(
    Object.entries(clean).filter(([name, value]) => Object.hasOwn(MEMBERS, name) && MEMBERS[name](value)),
  );
}

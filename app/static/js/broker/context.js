/** What the view is told about its host: hostCapabilities and hostContext. */

import { isObject } from "./json.js";
import { palette } from "./palette.js";
import { toolInfo } from "./tool_info.js";

export const DISPLAY_MODES = ["inline", "fullscreen"];
const DOMAIN_LISTS = ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"];

const PERMISSIONS = new Map([
  ["camera", "camera"],
  ["microphone", "microphone"],
  ["geolocation", "geolocation"],
  ["clipboardWrite", "clipboard-write"],
]);

/** What the frame's `allow` says for the permissions that the server granted. */
export function allowed(permissions) {
  return known(permissions).map((name) => PERMISSIONS.get(name)).join("; ");
}

const known = (permissions) =>
  Array.isArray(permissions) ? permissions.filter((name) => PERMISSIONS.has(name)) : [];

/** Only what is wired; CSP and permissions as the server granted them, not as they were asked. */
export function hostCapabilities({ granted, permissions }) {
  const csp = {};
  for (const name of DOMAIN_LISTS) {
    const list = isObject(granted) ? granted[name] : undefined;
    if (Array.isArray(list) && list.length > 0) csp[name] = list.filter((item) => typeof item === "string");
  }
  return {
    openLinks: {},
    downloadFile: {},
    serverTools: { listChanged: true },
    serverResources: { listChanged: true },
    logging: {},
    updateModelContext: { text: {}, structuredContent: {} },
    message: { text: {} },
    sandbox: { csp, permissions: Object.fromEntries(known(permissions).map((name) => [name, {}])) },
  };
}

const darkScheme = matchMedia("(prefers-color-scheme: dark)");

/** The page's theme: `data-theme` on the root element where a person chose, else the system's. */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return darkScheme.matches ? "dark" : "light";
}

/**
 * The whole hostContext. `place` is `{displayMode, width, height, maxHeight}` in CSS pixels:
 * inline the host owns the width and the view its height up to `maxHeight`; fullscreen both are
 * the host's.
 */
export function hostContext(data, place) {
  const fullscreen = place.displayMode === "fullscreen";
  return {
    toolInfo: toolInfo(data.toolInfo),
    theme: theme(),
    styles: { variables: palette() },
    displayMode: place.displayMode,
    availableDisplayModes: DISPLAY_MODES,
    containerDimensions: fullscreen
      ? { width: place.width, height: place.height }
      : { width: place.width, maxHeight: place.maxHeight },
    locale: navigator.language || "en",
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    userAgent: `vitrine/${data.hostInfo.version}`,
    platform: "web",
    deviceCapabilities: {
      touch: matchMedia("(any-pointer: coarse)").matches,
      hover: matchMedia("(any-hover: hover)").matches,
    },
    safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
  };
}

/** Calls `changed` when the theme may have changed; ends with `signal`. */
export function watchTheme(changed, signal) {
  darkScheme.addEventListener("change", changed, { signal });
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

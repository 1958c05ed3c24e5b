/** The page's palette as the standard CSS variables of MCP Apps, and no other. */

const mix = (color, share) => `color-mix(in srgb, ${color} ${share}%, var(--bg, Canvas))`;
const INFO = "var(--accent, LinkText)";
const DANGER = "var(--danger, #b3261e)";
const WARNING = "var(--warning, #8a5a00)";
const SUCCESS = "var(--success, light-dark(#1a7f37, #4ac26b))";
const TEXT = "var(--text, CanvasText)";
const MUTED = "var(--text-muted, GrayText)";
const BORDER = "var(--border, GrayText)";
const BG = "var(--bg, Canvas)";

const COLORS = {
  "--color-background-primary": BG,
  "--color-background-secondary": "var(--bg-raised, Canvas)",
  "--color-background-tertiary": mix(BORDER, 45),
  "--color-background-inverse": TEXT,
  "--color-background-ghost": "transparent",
  "--color-background-info": mix(INFO, 14),
  "--color-background-danger": mix(DANGER, 14),
  "--color-background-success": mix(SUCCESS, 14),
  "--color-background-warning": mix(WARNING, 14),
  "--color-background-disabled": mix(BORDER, 45),
  "--color-text-primary": TEXT,
  "--color-text-secondary": MUTED,
  "--color-text-tertiary": MUTED,
  "--color-text-inverse": BG,
  "--color-text-ghost": MUTED,
  "--color-text-info": INFO,
  "--color-text-danger": DANGER,
  "--color-text-success": SUCCESS,
  "--color-text-warning": WARNING,
  "--color-text-disabled": mix(MUTED, 65),
  "--color-border-primary": BORDER,
  "--color-border-secondary": mix(BORDER, 75),
  "--color-border-tertiary": mix(BORDER, 50),
  "--color-border-inverse": TEXT,
  "--color-border-ghost": "transparent",
  "--color-border-info": mix(INFO, 55),
  "--color-border-danger": mix(DANGER, 55),
  "--color-border-success": mix(SUCCESS, 55),
  "--color-border-warning": mix(WARNING, 55),
  "--color-border-disabled": mix(BORDER, 50),
  "--color-ring-primary": INFO,
  "--color-ring-secondary": BORDER,
  "--color-ring-inverse": BG,
  "--color-ring-info": INFO,
  "--color-ring-danger": DANGER,
  "--color-ring-success": SUCCESS,
  "--color-ring-warning": WARNING,
};

const LENGTHS = {
  "--border-radius-xs": "calc(var(--radius, 8px) / 4)",
  "--border-radius-sm": "calc(var(--radius, 8px) / 2)",
  "--border-radius-md": "var(--radius, 8px)",
  "--border-radius-lg": "calc(var(--radius, 8px) * 1.5)",
  "--border-radius-xl": "calc(var(--radius, 8px) * 2)",
};

const TYPE = {
  // size in pixels, line height
  "text-xs": [12, 1.4],
  "text-sm": [14, 1.45],
  "text-md": [16, 1.5],
  "text-lg": [18, 1.5],
  "heading-xs": [14, 1.4],
  "heading-sm": [16, 1.4],
  "heading-md": [18, 1.35],
  "heading-lg": [20, 1.3],
  "heading-xl": [24, 1.25],
  "heading-2xl": [30, 1.2],
  "heading-3xl": [36, 1.15],
};

const FIXED = {
  "--font-weight-normal": "400",
  "--font-weight-medium": "500",
  "--font-weight-semibold": "600",
  "--font-weight-bold": "700",
  "--border-radius-full": "9999px",
  "--border-width-regular": "1px",
  "--shadow-hairline": "0 0 0 1px rgb(0 0 0 / 0.08)",
  "--shadow-sm": "0 1px 2px rgb(0 0 0 / 0.1)",
  "--shadow-md": "0 2px 8px rgb(0 0 0 / 0.14)",
  "--shadow-lg": "0 8px 24px rgb(0 0 0 / 0.18)",
};
for (const [name, [size, height]] of Object.entries(TYPE)) {
  FIXED[`--font-${name}-size`] = `${size}px`;
  FIXED[`--font-${name}-line-height`] = `${height}`;
}

let known;

/**
 * Every standard variable as a concrete value; a colour is `light-dark(A, B)`, read from the
 * page's own variables in both schemes, so that a theme switch changes none of them.
 */
export function palette() {
  known ??= measure();
  return known;
}

function measure() {
  const probe = document.createElement("div");
  probe.hidden = true;
  document.body.append(probe);
  const computed = getComputedStyle(probe);
  const schemes = ["light", "dark"].map((scheme) => {
    probe.style.colorScheme = scheme;
    return mapped(COLORS, (value) => {
      probe.style.color = value;
      return computed.color;
    });
  });
  const variables = mapped(COLORS, (_, key) => `light-dark(${schemes[0][key]}, ${schemes[1][key]})`);
  Object.assign(
    variables,
    mapped(LENGTHS, (value) => {
      probe.style.borderTopLeftRadius = value;
      return computed.borderTopLeftRadius;
    }),
    mapped({ "--font-sans": "var(--font-sans, sans-serif)", "--font-mono": "var(--font-mono, monospace)" }, (value) => {
      probe.style.fontFamily = value;
      return computed.fontFamily;
    }),
    FIXED,
  );
  probe.remove();
  return variables;
}

const mapped = (table, read) =>
  Object.fromEntries(Object.entries(table).map(([key, value]) => [key, read(value, key)]));

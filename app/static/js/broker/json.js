/** Plain JSON values: measuring what comes in, cleaning what goes out. */

const MAX_DEPTH = 200;

/** A JSON object: not null, not an array. */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * About how many characters `value` has as JSON; `Infinity` when that is over `limit`, when it
 * nests deeper than 200 or when it is no JSON (a Map, a buffer: structured clone lets them by).
 * Never walks further than the limit, so cycles and huge values cost no more than that.
 */
export function jsonSize(value, limit) {
  const stack = [[value, 0]];
  let size = 0;
  while (stack.length > 0) {
    const [item, depth] = stack.pop();
    if (typeof item === "string") size += item.length + 2;
    else if (typeof item === "bigint") return Infinity;
    else size += 4;
    if (typeof item === "object" && item !== null) {
      if (depth >= MAX_DEPTH) return Infinity;
      const keys = Array.isArray(item) ? null : plainKeys(item);
      if (keys === undefined) return Infinity;
      size += keys === null ? item.length : keys.length * 3;
      if (size > limit) return Infinity;
      if (keys === null) {
        for (const child of item) stack.push([child, depth + 1]);
      } else {
        for (const key of keys) {
          size += key.length;
          stack.push([item[key], depth + 1]);
        }
      }
    }
    if (size > limit) return Infinity;
  }
  return size;
}

function plainKeys(item) {
  if (item instanceof Date) return [];
  return Object.getPrototypeOf(item) === Object.prototype ? Object.keys(item) : undefined;
}

/**
 * A copy without `null`, `undefined` and non-finite numbers, at any depth.
 *
 * The official views validate what a host sends, and one `null` makes them refuse to start.
 */
export function stripNulls(value) {
  if (Array.isArray(value)) return value.filter(isPresent).map(stripNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => isPresent(item))
      .map(([key, item]) => [key, stripNulls(item)]),
  );
}

function isPresent(value) {
  return value !== null && value !== undefined && !(typeof value === "number" && !Number.isFinite(value));
}

/**
 * A `CallToolResult` that views accept: values inside are left as they came, only the members
 * that break a view are dropped (`isError: null`, `content: null`). `content` is always a list.
 */
export function cleanResult(result) {
  const clean = isObject(result) ? { ...result } : {};
  clean.content = Array.isArray(clean.content) ? clean.content.filter(isObject) : [];
  if (typeof clean.isError !== "boolean") delete clean.isError;
  if (!isObject(clean._meta)) delete clean._meta;
  if (clean.structuredContent === null || clean.structuredContent === undefined) {
    delete clean.structuredContent;
  }
  return clean;
}

/** The tool's definition for the view, cut to what the official views accept. */

import { isObject, stripNulls } from "./json.js";

const FLAGS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/**
 * `{id?, tool}` for hostContext, or undefined. A view refuses to start on a tool whose input
 * schema is not `type: "object"`, so such a tool is left out whole.
 */
export function toolInfo(given) {
  const tool = given?.tool;
  if (!isObject(tool) || typeof tool.name !== "string") return undefined;
  const inputSchema = schema(tool.inputSchema);
  if (inputSchema === undefined) return undefined;
  const { id } = given;
  return {
    id: typeof id === "string" || Number.isFinite(id) ? id : undefined,
    tool: stripNulls({
      name: tool.name,
      title: text(tool.title),
      description: text(tool.description),
      inputSchema,
      outputSchema: schema(tool.outputSchema),
      annotations: annotations(tool.annotations),
      _meta: isObject(tool._meta) ? tool._meta : undefined,
    }),
  };
}

const text = (value) => (typeof value === "string" ? value : undefined);

function schema(given) {
  if (!isObject(given) || given.type !== "object") return undefined;
  const { properties, required, ...rest } = given;
  const clean = { ...rest };
  if (isObject(properties)) {
    clean.properties = Object.fromEntries(
      Object.entries(properties).map(([name, item]) => [name, isObject(item) ? item : {}]),
    );
  }
  if (Array.isArray(required)) clean.required = required.filter((name) => typeof name === "string");
  return clean;
}

function annotations(given) {
  if (!isObject(given)) return undefined;
  const flags = FLAGS.filter((name) => typeof given[name] === "boolean");
  return { title: text(given.title), ...Object.fromEntries(flags.map((name) => [name, given[name]])) };
}

/** Files that a view hands over to be saved: their names made harmless, their contents checked. */

import { isObject } from "./json.js";
import { bare } from "./text.js";

export const TOTAL = 32 * 1024 * 1024; // bytes of all files of one request
const COUNT = 20; // files of one request
const NAME = 120; // characters

const EXTENSIONS = {
  "application/json": "json",
  "application/pdf": "pdf",
  "application/xml": "xml",
  "application/zip": "zip",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "image/gif": "gif",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/webp": "webp",
  "text/css": "css",
  "text/csv": "csv",
  "text/html": "html",
  "text/markdown": "md",
  "text/plain": "txt",
  "video/mp4": "mp4",
  "video/webm": "webm",
};
const FORBIDDEN = /["*/:<>?\\|]/g; // in file names of one system or another
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i; // devices, in the eyes of Windows
const SPLIT = /^(.+?)(\.(?=\d*[A-Za-z])[A-Za-z0-9]{1,10})?$/s; // a version's number is no extension
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The files in `contents` as `{name, type, size, bytes()}`, or a text that says why they are
 * refused: only contents that are embedded whole are taken, for nothing is fetched on a view's word.
 */
export function filesIn(contents) {
  if (!Array.isArray(contents) || contents.length === 0) return "it names no file";
  if (contents.length > COUNT) return `it names more than ${COUNT} files`;
  const files = [];
  const names = new Set();
  let total = 0;
  for (const item of contents) {
    const file = isObject(item) && item.type === "resource" ? fileIn(item.resource) : null;
    if (file === null) return "a file must be embedded, as text or base64";
    file.name = unique(file.name, names);
    total += file.size;
    if (total > TOTAL) return `the files are larger than ${sizeText(TOTAL)}`;
    files.push(file);
  }
  return files;
}

function fileIn(resource) {
  if (!isObject(resource)) return null;
  const type = typeof resource.mimeType === "string" ? resource.mimeType.split(";")[0].trim().toLowerCase() : "";
  const name = fileName(resource.uri, type);
  const { text, blob } = resource;
  if (typeof text === "string") return { name, type, size: new Blob([text]).size, bytes: () => text };
  if (typeof blob !== "string") return null;
  const digits = blob.replace(/\s/g, "").replace(/-/g, "+").replace(/_/g, "/");
  if (!BASE64.test(digits) || digits.replace(/=+$/, "").length % 4 === 1) return null;
  const size = Math.floor((digits.replace(/=+$/, "").length * 3) / 4);
  return { name, type, size, bytes: () => bytesOf(digits) };
}

function bytesOf(digits) {
  const raw = atob(digits);
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) bytes[at] = raw.charCodeAt(at);
  return bytes;
}

/** The last part of `uri` as a file name that no system reads as anything else. */
export function fileName(uri, type) {
  const given = typeof uri === "string" ? uri.slice(0, 2_000) : "";
  const path = given.replace(/^[a-z][a-z0-9+.-]*:/i, "").split(/[?#]/)[0];
  const last = decoded(path).split(/[/\\]/).findLast((part) => part.trim() !== "") ?? "";
  const plain = bare(last)
    .replace(FORBIDDEN, "_")
    .replace(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  const safe = plain === "" ? "download" : plain;
  const [, stem, extension] = SPLIT.exec(RESERVED.test(safe) ? `_${safe}` : safe);
  const known = Object.hasOwn(EXTENSIONS, type) ? `.${EXTENSIONS[type]}` : "";
  const end = extension ?? known;
  return `${Array.from(stem).slice(0, NAME - end.length).join("").trimEnd()}${end}`;
}

function decoded(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a stray percent sign: taken as it is
  }
}

function unique(name, names) {
  const [, stem, end] = SPLIT.exec(name);
  let candidate = name;
  for (let n = 2; names.has(candidate.toLowerCase()); n += 1) candidate = `${stem} (${n})${end ?? ""}`;
  names.add(candidate.toLowerCase());
  return candidate;
}

/** A size for people: `1.5 MB`. */
export function sizeText(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const [size, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KB"] : [bytes / 1024 / 1024, "MB"];
  return `${size < 10 ? Math.round(size * 10) / 10 : Math.round(size)} ${unit}`;
}

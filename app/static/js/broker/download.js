/** `ui/download-file`: the person sees what would be saved, and saves it with a click. */

import { answered } from "./dialogs.js";
import { filesIn, sizeText } from "./files.js";
import { visible } from "./text.js";

const KEPT = 60_000; // ms until a saved file's memory is given back

/** Asks the person; true when they saved the files. */
export async function download(panel, contents) {
  const files = filesIn(contents);
  if (typeof files === "string") {
    panel.log.add("host", "warning", `ui/download-file was refused: ${files}`);
    panel.remote.seen("download", "refused", {});
    return false;
  }
  const one = files.length === 1;
  const who = document.createElement("p");
  const list = document.createElement("ul");
  who.textContent =
    `The view of ${visible(`${panel.server}/${panel.tool}`, 200)} asks to save ` +
    `${one ? "a file" : `${files.length} files`}. Vitrine has not looked at what is in ${one ? "it" : "them"}.`;
  list.className = "panel-dialog-files";
  list.append(...files.map(line));
  const saved = await panel.asker.ask({
    title: one ? "Save this file?" : "Save these files?",
    lines: [who, list],
    confirm: one ? "Save file" : "Save files",
    run: () => files.forEach(save),
  });
  panel.remote.seen("download", answered(saved, who), { sizes: files.map(({ size }) => size).slice(0, 100) });
  return saved;
}

function line({ name, type, size }) {
  const item = document.createElement("li");
  const label = document.createElement("strong");
  label.textContent = visible(name, 200);
  item.append(label, ` ${type === "" ? "" : `${visible(type, 80)}, `}${sizeText(size)}`);
  return item;
}

function save({ name, bytes }) {
  // Never the view's own type: a browser that shows the file instead would run it as Vitrine's.
  const url = URL.createObjectURL(new Blob([bytes()], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT);
}

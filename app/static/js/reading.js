/** Reading comforts of every page: copying, and times in the reader's own zone. */

const COPIED_FOR = 1_500; // ms

async function copy(text, control) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return false; // no leave, or not a secure address: the link or the text itself is still there
  }
  control.dataset.copied = "";
  setTimeout(() => delete control.dataset.copied, COPIED_FOR);
  return true;
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const link = target?.closest("a[data-copy-link]");
  // The link is followed too, so the address bar and the mark on the row agree with the copy.
  if (link) void copy(link.href, link);
  const button = target?.closest("button[data-copy-from]");
  if (button) void copy(document.getElementById(button.dataset.copyFrom).textContent, button);
});

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });

function localize() {
  for (const element of document.querySelectorAll("time[data-form]")) {
    const moment = new Date(element.dateTime);
    const form = element.dataset.form === "clock" ? clock : full;
    element.textContent = form.format(moment);
    element.title = `${full.format(moment)} (${element.dateTime})`;
    delete element.dataset.form;
    element.dataset.local = day.format(moment);
  }
  regroup();
}

/** Days begin at the reader's midnight: the headings that the server set are those of UTC. */
function regroup() {
  let current = "";
  for (const row of document.querySelectorAll(".transcript > .row")) {
    const own = row.querySelector(".row-link time")?.dataset.local ?? current;
    const before = row.previousElementSibling;
    const heading = before?.matches(".day") ? before : null;
    if (own === current) heading?.remove();
    else if (heading) heading.textContent = own;
    else row.before(Object.assign(document.createElement("h2"), { className: "day", textContent: own }));
    current = own;
  }
}

/** Rows that arrive above the reader leave the line that they were reading where it was. */
function holdPlace() {
  const anchor = document.querySelector(".transcript > .row");
  if (anchor === null) return;
  const top = anchor.getBoundingClientRect().top;
  const root = document.documentElement;
  // The browser's own anchoring does the same except at the very top; both together do it twice.
  root.style.overflowAnchor = "none";
  const settle = () => {
    scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
    requestAnimationFrame(() => (root.style.overflowAnchor = ""));
  };
  document.addEventListener("htmx:after:swap", settle, { once: true });
}

for (const button of document.querySelectorAll("button[data-copy-from]")) {
  button.hidden = navigator.clipboard === undefined;
}
localize();
document.addEventListener("htmx:after:swap", localize);
document.addEventListener("vitrine:rows", localize);
document.addEventListener("htmx:before:swap", (event) => {
  if (event.detail?.ctx?.sourceElement?.id?.startsWith("load-before")) holdPlace();
});

// "/" leads to the search of the page, as in most readers; not while something is being typed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
  const field = document.querySelector('input[type="search"]');
  if (typing || field === null) return;
  event.preventDefault();
  field.focus();
  field.select();
});

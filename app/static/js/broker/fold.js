/** A part of the panel's foot that folds out: its contents are made when somebody looks. */
export class Fold {
  #summary = document.createElement("summary");
  #fill;

  /** `fill(element)` puts the contents into `element`; it is called while the fold is open. */
  constructor(home, className, label, fill) {
    this.element = document.createElement("details");
    this.body = document.createElement("div");
    this.element.className = `panel-fold ${className}`;
    this.#summary.textContent = label;
    this.#fill = fill;
    this.element.append(this.#summary, this.body);
    this.element.addEventListener("toggle", () => this.refresh());
    home.append(this.element);
  }

  set label(text) {
    this.#summary.textContent = text;
  }

  set hidden(hidden) {
    this.element.hidden = hidden;
  }

  /** Makes the contents anew if they can be seen. */
  refresh() {
    if (this.element.open) this.#fill(this.body);
  }
}

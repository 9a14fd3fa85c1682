// The trees by weight, each with what it predicts for the row.

const MOST_LISTED = 200;

/** The trees by weight: a list box, in which the arrow keys choose. */
class TreeList {
  constructor(report, forest, entries, choose) {
    Object.assign(this, { report, forest, entries, choose });
    this.list = element("ul", {
      role: "listbox",
      class: "tree-list",
      "aria-labelledby": "trees-heading",
      id: "tree-list",
    });
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.items = [];
    this.more = element("button", { type: "button", class: "plain", id: "more-trees", onclick: () => this.grow() });
    this.box = element("div", {}, this.list, this.more);
    this.grow();
  }

  grow() {
    const from = this.items.length;
    const largest = Math.max(...this.report.trees.weights);
    const made = this.entries.slice(from, from + MOST_LISTED).map((entry) => this.item(entry, largest));
    this.items.push(...made);
    this.list.append(...made);
    const rest = this.entries.length - this.items.length;
    this.more.hidden = rest === 0;
    this.more.textContent = `Show ${Math.min(rest, MOST_LISTED)} more of ${number(rest, 6)}`;
    if (this.row) this.tell(this.row, this.found);
    if (from > 0) this.mark(this.entry);
  }

  item(entry, largest) {
    const item = element(
      "li",
      { role: "option", tabindex: "-1", "aria-selected": "false" },
      element(
        "span",
        { class: "tree-title" },
        element("b", {}, entry.name),
        entry.weight === null ? null : element("span", { class: "quiet" }, ` ${percent(entry.weight)}`),
      ),
      entry.weight === null
        ? null
        : element(
            "span",
            { class: "meter wide", "aria-hidden": "true" },
            styled(element("span", { class: "meter-bar" }), { width: `${(100 * entry.weight) / largest}%` }),
          ),
      element("span", { class: "quiet small" }, `${counted(entry.leaves, "leaf", "leaves")}, depth ${entry.depth}`),
      element("span", { class: "small answer" }),
    );
    item.entry = entry;
    item.addEventListener("click", () => this.pick(item));
    return item;
  }

  /** Says in every line what the tree predicts for the row. */
  tell(row, found) {
    Object.assign(this, { row, found });
    for (const item of this.items) {
      const { entry } = item;
      const leaf = entry.index === null ? this.forest.leaf(entry.root, row) : found.leaves[entry.index];
      item.lastChild.replaceChildren(...this.answer(leaf));
    }
  }

  answer(leaf) {
    const means = this.forest.meansOf(leaf);
    if (!this.forest.isClass)
      return [
        `→ ${means
          .slice(0, 2)
          .map((mean) => number(mean, 4))
          .join("; ")}`,
      ];
    const best = argmax(means);
    return [
      "→ ",
      swatch(colourOf(this.report, best)),
      `${shortened(this.report.target.outputs[best], 18)} ${probability(means[best])}`,
    ];
  }

  mark(entry) {
    this.entry = entry;
    for (const item of this.items) {
      const isChosen = item.entry === entry;
      item.setAttribute("aria-selected", String(isChosen));
      item.tabIndex = isChosen ? 0 : -1;
    }
  }

  pick(item) {
    this.choose(item.entry);
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const at = this.items.indexOf(event.target.closest("[role=option]"));
    const last = this.items.length - 1;
    const to = { ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1), Home: 0, End: last }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    this.pick(this.items[to]);
  }
}

// The explorer: a row to predict, the trees by weight, one of them opened, and what is known of its nodes.

const MOST_LISTED = 200;

class Explorer {
  constructor(report) {
    this.report = report;
    this.forest = new Forest(report);
    this.prediction = new Prediction(report, this.forest);
    this.form = new RowForm(report, (row) => this.rowChanged(row));
    this.details = new NodeDetails(report, this.forest);
    this.tree = new TreeView(report, this.forest, (about, path) => this.details.show(about, path));
    this.entries = this.makeEntries();
    this.list = new TreeList(report, this.forest, this.entries, (entry) => this.choose(entry));
    this.caption = element("div", { class: "tree-caption" });
    this.section = this.build();
    this.row = this.form.row();
    this.found = this.prediction.show(this.row);
    this.choose(this.entries[0]);
    this.list.tell(this.row, this.found);
  }

  makeEntries() {
    const { singled, roots, weights, leaves, depths } = this.report.trees;
    const chosen = singled.map((each) => ({ ...each, weight: null, index: null }));
    const all = roots.map((root, index) => ({
      name: `Tree ${index + 1}`,
      remark: `One of the ${counted(roots.length, "tree")}, with its thresholds as they were drawn; “…” stands for further digits.`,
      root,
      weight: weights[index],
      leaves: leaves[index],
      depth: depths[index],
      index,
    }));
    return [...chosen, ...all];
  }

  choose(entry) {
    this.entry = entry;
    this.list.mark(entry);
    this.showCaption();
    this.tree.show(entry.root, this.forest.path(entry.root, this.row));
  }

  rowChanged(row) {
    this.row = row;
    this.found = this.prediction.show(row);
    this.showCaption();
    this.tree.mark(this.forest.path(this.entry.root, row));
    this.list.tell(row, this.found);
  }

  showCaption() {
    const { entry } = this;
    const leaf = this.forest.leaf(entry.root, this.row);
    const weight = entry.weight === null ? "" : `${percent(entry.weight)} of the weight, `;
    const rounded = entry.weight === null ? " Thresholds are rounded between neighbouring values of the training data; it predicts by what it shows." : "";
    this.caption.replaceChildren(
      element("h4", { id: "tree-name" }, entry.name),
      element("p", { class: "small quiet" }, `${weight}${counted(entry.leaves, "leaf").replace("leafs", "leaves")}, depth ${entry.depth}. ${entry.remark}${rounded}`),
      element("p", { class: "small", id: "tree-answer" }, "For the row above this tree says ", this.tree.leafLabel(leaf), "."),
    );
  }

  build() {
    const { trees, exact, target } = this.report;
    const what = target.kind === "classes" ? "probabilities result" : "distribution results";
    return section(
      "explore",
      "Explore the trees",
      paragraph(`Type in a row, and see which way each tree sends it and what ${what}. Leave a field empty for a missing value.`),
      element(
        "div",
        { class: "row-and-result" },
        element("div", { class: "card" }, element("h3", {}, "A row"), this.form.form),
        element("div", { class: "card" }, element("h3", {}, "What the trees predict for it"), this.prediction.panel, this.caveats(trees, exact)),
      ),
      element(
        "div",
        { class: "trees card" },
        element("div", { class: "tree-list-box" }, element("h3", { id: "trees-heading" }, "Trees"), this.list.box),
        element("div", { class: "tree-box" }, this.caption, this.toolbar(), this.legend(), element("div", { class: "tree-scroll" }, this.tree.list)),
        element("aside", { class: "details", "aria-label": "The node at the pointer" }, this.details.panel),
      ),
    );
  }

  caveats(trees, exact) {
    const notes = [];
    if (exact) notes.push("The posterior is exact; here the prediction is the average over the trees that were drawn from it, which is close.");
    if (trees.total > trees.roots.length) {
      notes.push(`The page holds the ${number(trees.roots.length, 6)} heaviest of ${number(trees.total, 6)} trees, with ${percent(trees.held)} of the weight; the prediction is theirs.`);
    }
    return notes.length > 0 ? element("p", { class: "small quiet" }, notes.join(" ")) : null;
  }

  toolbar() {
    const button = (id, text, action) => element("button", { type: "button", id, onclick: action }, text);
    return element(
      "div",
      { class: "buttons" },
      button("open-all", "Open all", () => this.tree.openAll()),
      button("fold-all", "Fold all", () => this.tree.foldAll()),
      button("open-path", "Show the row’s way", () => this.tree.openPath()),
    );
  }

  legend() {
    const head = [
      element("span", { class: "label" }, "question (yes goes to the first branch)"),
      element("span", { class: "miniature-head" }, this.forest.isClass ? "classes" : "mean, sd"),
      element("span", { class: "rows" }, "rows"),
      element("span", { class: "sure" }, "sure"),
    ];
    const { coloured, outputs } = this.report.target;
    const classes = this.forest.isClass ? coloured.map((k) => [colourOf(this.report, k), outputs[k]]) : [];
    if (classes.length > 0 && coloured.length < outputs.length) classes.push(["var(--other)", "other classes"]);
    return element("div", {}, classes.length > 0 ? legend(classes) : null, element("div", { class: "tree-head", "aria-hidden": "true" }, head));
  }
}

/** The trees by weight: a list box, in which the arrow keys choose. */
class TreeList {
  constructor(report, forest, entries, choose) {
    Object.assign(this, { report, forest, entries, choose });
    this.list = element("ul", { role: "listbox", class: "tree-list", "aria-labelledby": "trees-heading", id: "tree-list" });
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
      element("span", { class: "tree-title" }, element("b", {}, entry.name), entry.weight === null ? null : element("span", { class: "quiet" }, ` ${percent(entry.weight)}`)),
      entry.weight === null ? null : element("span", { class: "meter wide", "aria-hidden": "true" }, styled(element("span", { class: "meter-bar" }), { width: `${(100 * entry.weight) / largest}%` })),
      element("span", { class: "quiet small" }, `${counted(entry.leaves, "leaf").replace("leafs", "leaves")}, depth ${entry.depth}`),
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
    if (!this.forest.isClass) return [`→ ${means.slice(0, 2).map((mean) => number(mean, 4)).join("; ")}`];
    const best = argmax(means);
    return ["→ ", swatch(colourOf(this.report, best)), `${shortened(this.report.target.outputs[best], 18)} ${probability(means[best])}`];
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

/** All that is known of one node. */
class NodeDetails {
  constructor(report, forest) {
    Object.assign(this, { report, forest });
    this.panel = element("div", { id: "details" });
  }

  show(about) {
    const { node, question } = about;
    this.panel.replaceChildren(
      element("h4", {}, question ? `${question.feature} ${question.condition}?` : "Leaf"),
      ...this.way(about),
      element("p", {}, element("b", {}, counted(this.forest.rowsOf(node), "training row")), question ? " come to this node." : " end here."),
      this.forest.isClass ? this.classes(node) : this.numbers(node),
      ...this.sureness(about),
      ...this.cut(node),
    );
  }

  way({ above }) {
    if (above.length === 0) return [element("p", { class: "small quiet" }, "The root: all training rows.")];
    const steps = above.map(({ question, edge }) => element("li", {}, `${question.feature} ${question.condition}: `, element("b", {}, edge)));
    return [element("details", { class: "way" }, element("summary", { class: "small" }, `Rows with ${counted(above.length, "answer")} in common`), element("ol", { class: "small" }, steps))];
  }

  classes(node) {
    const [counts, means] = [this.forest.countsOf(node), this.forest.meansOf(node)];
    const order = counts.map((_, k) => k).filter((k) => counts[k] > 0).sort((a, b) => counts[b] - counts[a]);
    const rows = order.slice(0, 8).map((k) => {
      const name = [swatch(colourOf(this.report, k)), shortened(this.report.target.outputs[k], 14)];
      return trackRow(name, [trackBar(means[k], colourOf(this.report, k))], [element("b", {}, probability(means[k])), element("span", { class: "quiet" }, ` ${number(counts[k], 6)}`)], this.report.target.outputs[k]);
    });
    const rest = order.length > 8 ? element("p", { class: "small quiet" }, `and ${order.length - 8} more classes`) : null;
    return element("div", {}, element("ul", { class: "tracks" }, rows), rest, element("p", { class: "small quiet" }, "Probability if the tree ended here, and rows."));
  }

  numbers(node) {
    const means = this.forest.meansOf(node);
    const lines = means.map((mean, k) => {
      const deviation = this.forest.deviationOf(node, k);
      const name = means.length > 1 ? `${this.report.target.outputs[k]}: ` : "";
      return element("p", {}, name, element("b", {}, number(mean, 5)), deviation === null ? "" : ` ± ${number(deviation, 3)}`);
    });
    return element("div", {}, lines, element("p", { class: "small quiet" }, "Mean and standard deviation of one more observation, if the tree ended here."));
  }

  sureness({ node, depth, question }) {
    const [conditional, marginal] = this.forest.sureOf(node, depth);
    const does = question ? "divide them this way" : "stop here";
    if (marginal === 0) return [element("p", {}, "No tree of the posterior does so here: this tree leaves out splits that tell little.")];
    return [
      element("p", {}, element("b", {}, percent(conditional)), ` of the trees that have these rows together at this depth ${does}.`),
      element("p", { class: "small quiet" }, `${percent(marginal)} of all trees have these rows here and ${does}.`),
    ];
  }

  cut(node) {
    const { low, high, threshold } = this.forest.nodes;
    if (low[node] === null) return [];
    return [element("p", { class: "small quiet" }, `Threshold ${threshold[node]}. Any from ${number(low[node], 6)} to below ${number(high[node], 6)} divides the training rows alike.`)];
  }
}

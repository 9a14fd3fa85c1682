// The explorer: a row to predict, the trees by weight, one of them opened, and what is known of its nodes.

/** What the numbers at the nodes are. */
function supportNote({ all_runs, run, tolerance }) {
  const alone = all_runs > 1 ? ` A star: found by one ${run} only, and another seed may not find it.` : "";
  return (
    "Support: the share of all trees, by weight, that make about the same splits from the root down to here; " +
    `cuts of a feature that move at most ${percent(tolerance)} of the rows to the other side are about the same.${alone}`
  );
}

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
    this.note = element("p", { class: "small quiet support-note" }, supportNote(report.trees.support));
    this.supportHead = element("span", { class: "support" }, "support");
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
    this.note.hidden = this.supportHead.hidden = entry.index !== null;
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
    const rounded =
      entry.weight === null
        ? " Thresholds are rounded between neighbouring values of the training data; it predicts by what it shows."
        : "";
    this.caption.replaceChildren(
      element("h4", { id: "tree-name" }, entry.name),
      element(
        "p",
        { class: "small quiet" },
        `${weight}${counted(entry.leaves, "leaf", "leaves")}, depth ${entry.depth}. ${entry.remark}${rounded}`,
      ),
      element(
        "p",
        { class: "small", id: "tree-answer" },
        "For the row above this tree says ",
        this.tree.leafLabel(leaf),
        ".",
      ),
    );
  }

  build() {
    const { trees, exact, target } = this.report;
    const what = target.kind === "classes" ? "probabilities result" : "distribution results";
    return section(
      "explore",
      "Explore the trees",
      paragraph(
        `Type in a row, and see which way each tree sends it and what ${what}. Leave a field empty for a missing value.`,
      ),
      element(
        "div",
        { class: "row-and-result" },
        element("div", { class: "card" }, element("h3", {}, "A row"), this.form.form),
        element(
          "div",
          { class: "card" },
          element("h3", {}, "What the trees predict for it"),
          this.prediction.panel,
          this.caveats(trees, exact),
        ),
      ),
      element(
        "div",
        { class: "trees card" },
        element("div", { class: "tree-list-box" }, element("h3", { id: "trees-heading" }, "Trees"), this.list.box),
        element(
          "div",
          { class: "tree-box" },
          this.caption,
          this.toolbar(),
          this.legend(),
          element("div", { class: "tree-scroll" }, this.tree.list),
          this.note,
        ),
        element("aside", { class: "details", "aria-label": "The node at the pointer" }, this.details.panel),
      ),
    );
  }

  caveats(trees, exact) {
    const notes = [];
    if (exact)
      notes.push(
        "The posterior is exact; here the prediction is the average over the trees that were drawn from it, which is close.",
      );
    if (trees.total > trees.roots.length) {
      notes.push(
        `The page holds the ${number(trees.roots.length, 6)} heaviest of ${number(trees.total, 6)} trees, with ${percent(trees.held)} of the weight; the prediction is theirs.`,
      );
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
    const numbers = `${this.report.target.mean.noun}, sd`;
    const head = [
      element("span", { class: "label" }, "question (yes goes to the first branch)"),
      element("span", { class: "miniature-head" }, this.forest.isClass ? "classes" : numbers),
      element("span", { class: "rows" }, "rows"),
      this.supportHead,
    ];
    const { coloured, outputs } = this.report.target;
    const classes = this.forest.isClass ? coloured.map((k) => [colourOf(this.report, k), outputs[k]]) : [];
    if (classes.length > 0 && coloured.length < outputs.length) classes.push(["var(--other)", "other classes"]);
    return element(
      "div",
      {},
      classes.length > 0 ? legend(classes) : null,
      element("div", { class: "tree-head", "aria-hidden": "true" }, head),
    );
  }
}

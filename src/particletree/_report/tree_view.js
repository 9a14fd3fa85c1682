// One tree that opens and folds: an ARIA tree whose branches are made when they are opened.

const MOST_OPEN = 40; // nodes that are open at the beginning
const MOST_NODES = 3000; // that "open all" opens

class TreeView {
  /** `describe` is called with the node that the pointer or the keyboard is at. */
  constructor(report, forest, describe) {
    Object.assign(this, { report, forest, describe, path: [] });
    this.list = element("ul", { role: "tree", class: "tree", "aria-label": "Decision tree", id: "tree" });
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.range = report.target.kind === "classes" ? null : this.rangeOfMeans();
  }

  rangeOfMeans() {
    const leaves = this.forest.trees.roots.map((root) => this.forest.meansOf(root)[0]);
    const means = this.forest.blocks.means[0].filter((_, i) => this.forest.blocks.rows[i] >= 1);
    return span([...means, ...leaves], 0.02);
  }

  show(root, path) {
    this.root = root;
    this.path = path;
    const item = this.item({ node: root, depth: 0, edge: null, known: new Map(), above: [] });
    item.tabIndex = 0;
    this.list.replaceChildren(item);
    this.openSome(item);
    this.describe(item.about, path);
  }

  /** Opens branches level by level, while there are few. */
  openSome(root) {
    let level = [root];
    let n = 1;
    while (level.length > 0) {
      const inner = level.filter((item) => !this.forest.isLeaf(item.about.node));
      n += 2 * inner.length;
      if (n > MOST_OPEN && level[0] !== root) break;
      inner.forEach((item) => this.toggle(item, true));
      level = inner.flatMap((item) => [...item.lastChild.children]);
    }
    this.openPath();
  }

  openPath() {
    for (const item of [...this.list.querySelectorAll('[aria-expanded="false"]')]) {
      if (this.isOnPath(item.about)) this.openAlongPath(item);
    }
  }

  openAlongPath(item) {
    if (this.forest.isLeaf(item.about.node)) return;
    this.toggle(item, true);
    const next = [...item.lastChild.children].find((child) => this.isOnPath(child.about));
    if (next) this.openAlongPath(next);
  }

  isOnPath({ node, depth, above }) {
    return this.path[depth] === node && above.every((each, i) => each.node === this.path[i]);
  }

  /** Marks the way of another row. */
  mark(path) {
    this.path = path;
    for (const item of this.list.querySelectorAll("[role=treeitem]")) this.markItem(item);
    this.openPath();
  }

  markItem(item) {
    const isOn = this.isOnPath(item.about);
    item.classList.toggle("on-path", isOn);
    item.classList.toggle("row-ends-here", isOn && this.forest.isLeaf(item.about.node));
  }

  item(about) {
    const { node, depth } = about;
    const isLeaf = this.forest.isLeaf(node);
    about.question = isLeaf ? null : this.forest.question(node, about.known);
    const item = element("li", {
      role: "treeitem",
      tabindex: "-1",
      "aria-level": depth + 1,
      "aria-expanded": isLeaf ? null : "false",
      "aria-label": this.spoken(about),
    });
    item.about = about;
    const line = element("div", { class: "node" }, this.cells(about));
    line.addEventListener("click", () => this.click(item));
    line.addEventListener("pointerenter", () => this.describe(about, this.path));
    item.addEventListener("focus", () => this.describe(about, this.path));
    item.append(line);
    this.markItem(item);
    return item;
  }

  cells(about) {
    const { node, edge, question } = about;
    const label = question
      ? [
          element("span", { class: "feature" }, shortened(question.feature, 42)),
          " ",
          element("span", { class: "condition" }, question.condition),
        ]
      : this.leafLabel(node);
    return [
      element("span", { class: "chevron", "aria-hidden": "true" }),
      edge ? element("span", { class: `edge ${edge}` }, edge) : null,
      element("span", { class: "label" }, label),
      element("span", { class: "here" }, "this row"),
      this.miniature(node),
      element("span", { class: "rows" }, number(this.forest.rowsOf(node), 6)),
      this.support(node),
    ];
  }

  support(node) {
    const found = this.forest.supportOf(node);
    if (!found) return null;
    const isAlone = this.forest.isOfOneRun(node);
    return element(
      "span",
      { class: "support", title: isAlone ? "found by one run only" : "share of the trees that split so, down to here" },
      supportMeter(found.support),
      `${percent(found.support)}${isAlone ? "*" : ""}`,
    );
  }

  leafLabel(node) {
    const means = this.forest.meansOf(node);
    if (this.forest.isClass) {
      const best = argmax(means);
      const name = this.report.target.outputs[best];
      return [
        swatch(colourOf(this.report, best)),
        element("b", {}, shortened(name, 32)),
        ` ${probability(means[best])}`,
      ];
    }
    const words = means.slice(0, 3).map((mean, k) => {
      const deviation = this.forest.deviationOf(node, k);
      return `${number(mean, 4)}${deviation === null ? "" : ` ± ${number(deviation, 3)}`}`;
    });
    return [element("b", {}, words.join("; "))];
  }

  /** The rows of a node at a glance: shares of the classes, or the mean with its spread. */
  miniature(node) {
    const box = element("span", { class: "miniature", "aria-hidden": "true" });
    if (this.forest.isClass) {
      const counts = this.forest.countsOf(node);
      const total = sum(counts) || 1;
      counts.forEach((count, k) => {
        if (count > 0)
          box.append(
            styled(element("span", { class: "part" }), {
              width: `${(100 * count) / total}%`,
              background: colourOf(this.report, k),
            }),
          );
      });
      return box;
    }
    const at = (value) => Math.min(1, Math.max(0, (value - this.range[0]) / (this.range[1] - this.range[0])));
    const [mean, deviation] = [this.forest.meansOf(node)[0], this.forest.deviationOf(node, 0) ?? 0];
    box.classList.add("of-number");
    box.append(trackWhisker(at(mean - deviation), at(mean + deviation)), trackDot(at(mean), "var(--c0)"));
    return box;
  }

  spoken({ node, edge, question }) {
    const found = this.forest.supportOf(node);
    const support = found ? `, support ${percent(found.support)}${this.forest.isOfOneRun(node) ? ", one run only" : ""}` : "";
    const what = question
      ? `${question.feature} ${question.condition}?`
      : this.leafLabel(node)
          .map((part) => part.textContent ?? part)
          .join("");
    return `${edge ? `${edge}: ` : ""}${what}, ${counted(this.forest.rowsOf(node), "row")}${support}`;
  }

  click(item) {
    this.focus(item);
    if (!this.forest.isLeaf(item.about.node)) this.toggle(item);
  }

  toggle(item, open = item.getAttribute("aria-expanded") !== "true") {
    item.setAttribute("aria-expanded", String(open));
    if (!open) {
      if (item.lastChild.contains(document.activeElement)) this.focus(item);
      item.lastChild.remove();
    } else if (item.children.length === 1) item.append(this.children(item.about));
  }

  children({ node, depth, question, above }) {
    const [left, right] = [this.forest.nodes.left[node], this.forest.nodes.right[node]];
    const side = (child, edge, known) =>
      this.item({ node: child, depth: depth + 1, edge, known, above: [...above, { node, edge, question }] });
    return element("ul", { role: "group" }, side(left, "yes", question.left), side(right, "no", question.right));
  }

  openAll() {
    let n = 0;
    const pending = [this.list.firstChild];
    while (pending.length > 0 && n < MOST_NODES) {
      const item = pending.shift();
      n += 1;
      if (this.forest.isLeaf(item.about.node)) continue;
      this.toggle(item, true);
      pending.push(...item.lastChild.children);
    }
  }

  foldAll() {
    const root = this.list.firstChild;
    if (!this.forest.isLeaf(this.root)) this.toggle(root, false);
    this.focusable(root);
  }

  visible() {
    return [...this.list.querySelectorAll("[role=treeitem]")];
  }

  focusable(item) {
    for (const other of this.list.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    item.tabIndex = 0;
  }

  focus(item) {
    this.focusable(item);
    item.focus({ preventScroll: false });
  }

  key(event) {
    const item = event.target.closest("[role=treeitem]");
    const action = item && this.actions()[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action(item);
  }

  actions() {
    const step = (by) => (item) => {
      const all = this.visible();
      this.focus(all[Math.min(all.length - 1, Math.max(0, all.indexOf(item) + by))]);
    };
    const isOpen = (item) => item.getAttribute("aria-expanded") === "true";
    const canOpen = (item) => item.hasAttribute("aria-expanded");
    const turn = (item) => canOpen(item) && this.toggle(item);
    return {
      ArrowDown: step(1),
      ArrowUp: step(-1),
      ArrowRight: (item) =>
        isOpen(item) ? this.focus(item.lastChild.firstChild) : canOpen(item) && this.toggle(item, true),
      ArrowLeft: (item) =>
        isOpen(item) ? this.toggle(item, false) : this.focus(item.parentElement.closest("[role=treeitem]") ?? item),
      Home: () => this.focus(this.list.firstChild),
      End: () => this.focus(this.visible().at(-1)),
      Enter: turn,
      " ": turn,
    };
  }
}

function supportMeter(share) {
  const bar = styled(element("span", { class: "meter-bar" }), { width: `${100 * share}%` });
  return element("span", { class: "meter", "aria-hidden": "true" }, bar);
}

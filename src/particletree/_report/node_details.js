// What is known of the node that the pointer or the keyboard is at.

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
      element(
        "p",
        {},
        element("b", {}, counted(this.forest.rowsOf(node), "training row")),
        question ? " come to this node." : " end here.",
      ),
      this.forest.isClass ? this.classes(node) : this.numbers(node),
      ...this.support(about),
      ...this.cut(node),
    );
  }

  way({ above }) {
    if (above.length === 0) return [element("p", { class: "small quiet" }, "The root: all training rows.")];
    const steps = above.map(({ question, edge }) =>
      element("li", {}, `${question.feature} ${question.condition}: `, element("b", {}, edge)),
    );
    return [
      element(
        "details",
        { class: "way" },
        element("summary", { class: "small" }, `Rows with ${counted(above.length, "answer")} in common`),
        element("ol", { class: "small" }, steps),
      ),
    ];
  }

  classes(node) {
    const [counts, means] = [this.forest.countsOf(node), this.forest.meansOf(node)];
    const order = counts
      .map((_, k) => k)
      .filter((k) => counts[k] > 0)
      .sort((a, b) => counts[b] - counts[a]);
    const rows = order.slice(0, 8).map((k) => {
      const name = [swatch(colourOf(this.report, k)), shortened(this.report.target.outputs[k], 14)];
      return trackRow(
        name,
        [trackBar(means[k], colourOf(this.report, k))],
        [element("b", {}, probability(means[k])), element("span", { class: "quiet" }, ` ${number(counts[k], 6)}`)],
        this.report.target.outputs[k],
      );
    });
    const rest =
      order.length > 8 ? element("p", { class: "small quiet" }, `and ${order.length - 8} more classes`) : null;
    return element(
      "div",
      {},
      element("ul", { class: "tracks" }, rows),
      rest,
      element("p", { class: "small quiet" }, "Probability if the tree ended here, and rows."),
    );
  }

  numbers(node) {
    const means = this.forest.meansOf(node);
    const lines = means.map((mean, k) => {
      const deviation = this.forest.deviationOf(node, k);
      const name = means.length > 1 ? `${this.report.target.outputs[k]}: ` : "";
      return element(
        "p",
        {},
        name,
        element("b", {}, number(mean, 5)),
        deviation === null ? "" : ` ± ${number(deviation, 3)}`,
      );
    });
    return element(
      "div",
      {},
      lines,
      element(
        "p",
        { class: "small quiet" },
        `${whatNumbersAre(this.report)}, if the tree ended here.`,
      ),
    );
  }

  support({ node, question }) {
    const found = this.forest.supportOf(node);
    if (!found) return [];
    const { all_runs: all, run } = this.report.trees.support;
    if (found.support === 0) {
      const does = question ? "makes these splits down to here" : "makes these splits and stops here";
      return [element("p", {}, `No tree of the posterior ${does}: this one is put together from several.`)];
    }
    const runs = all > 1 ? ` They are of ${found.runs} of the ${counted(all, run)}.` : "";
    return [
      element(
        "p",
        {},
        element("b", {}, percent(found.support)),
        ` of all trees make about the same splits down to here and ${question ? "this one" : "stop"}.${runs} `,
        this.forest.isOfOneRun(node) ? element("b", {}, `One ${run} only: another seed may not find it.`) : null,
      ),
    ];
  }

  cut(node) {
    const { low, high, threshold } = this.forest.nodes;
    if (low[node] === null) return [];
    return [
      element(
        "p",
        { class: "small quiet" },
        `Threshold ${threshold[node]}. Any from ${number(low[node], 6)} to below ${number(high[node], 6)} divides the training rows alike.`,
      ),
    ];
  }
}

// A row that the reader types in, and what the trees predict for it.

const MOST_FIELDS = 12;
const MOST_BARS = 8;

/** The form: one field for each feature, the largest gain share first. `changed` is called with the row. */
class RowForm {
  constructor(report, changed) {
    this.features = report.features;
    this.changed = changed;
    this.fields = this.features.map((feature, i) =>
      feature.levels ? this.levelsField(feature, i) : this.numberField(feature, i),
    );
    this.errors = this.features.map((_, i) =>
      element("span", { class: "error", id: `error-${i}`, hidden: true }, "not a number: counts as missing"),
    );
    const order = this.features
      .map((_, i) => i)
      .sort((a, b) => this.features[b].gain_share - this.features[a].gain_share);
    const labelled = order.map((i) => this.labelled(i));
    const rest = labelled.slice(MOST_FIELDS);
    this.form = element(
      "form",
      { class: "row-form", "aria-label": "A row to predict" },
      element("div", { class: "fields" }, labelled.slice(0, rest.length > 2 ? MOST_FIELDS : labelled.length)),
      rest.length > 2
        ? element(
            "details",
            { id: "more-fields" },
            element("summary", {}, `${rest.length} more features, which matter less`),
            element("div", { class: "fields" }, rest),
          )
        : null,
      element(
        "div",
        { class: "buttons" },
        element(
          "button",
          { type: "button", id: "typical-row", onclick: () => this.set(this.typical()) },
          "Typical row",
        ),
        element(
          "button",
          { type: "button", id: "empty-row", onclick: () => this.set(this.features.map(() => null)) },
          "All missing",
        ),
      ),
    );
    this.form.addEventListener("input", () => this.tell());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.write(this.typical());
  }

  labelled(i) {
    const label = element(
      "label",
      { for: `row-${i}`, title: this.features[i].name },
      shortened(this.features[i].name, 22),
    );
    return element("div", { class: "field" }, label, this.fields[i], this.errors[i]);
  }

  numberField(feature, i) {
    return element("input", {
      id: `row-${i}`,
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      placeholder: "missing",
      "aria-describedby": `error-${i}`,
    });
  }

  levelsField(feature, i) {
    const names = [...feature.levels, "(missing)", "(a level never seen)"];
    return element(
      "select",
      { id: `row-${i}` },
      names.map((name, value) => element("option", { value }, name)),
    );
  }

  typical() {
    return this.features.map((feature) => feature.typical);
  }

  /** Writes a row into the fields; null is a missing value. */
  write(row) {
    row.forEach((value, i) => {
      const { levels } = this.features[i];
      this.fields[i].value = levels ? String(value ?? levels.length) : value === null ? "" : String(value);
    });
  }

  set(row) {
    this.write(row);
    this.tell();
  }

  /** The row as the trees take it: numbers, NaN where one is missing, and numbers of levels. */
  row() {
    return this.features.map((feature, i) => {
      const text = this.fields[i].value.trim();
      if (feature.levels) return Number(text);
      const value = text === "" ? NaN : Number(text.replace("−", "-"));
      const isWrong = text !== "" && !Number.isFinite(value);
      this.fields[i].setAttribute("aria-invalid", String(isWrong));
      this.errors[i].hidden = !isWrong;
      return isWrong ? NaN : value;
    });
  }

  tell() {
    this.changed(this.row());
  }
}

/** What the trees predict for the row in the form. */
class Prediction {
  constructor(report, forest) {
    Object.assign(this, { report, forest, all: false });
    this.panel = element("div", { class: "prediction", "aria-live": "polite" });
  }

  show(row) {
    this.row = row;
    const found = this.forest.predict(row);
    this.panel.replaceChildren(
      ...(this.forest.isClass ? this.classes(found) : this.numbers(found)),
      this.agreement(found),
    );
    return found;
  }

  classes({ parts, means }) {
    const order = means.map((_, k) => k).sort((a, b) => means[b] - means[a]);
    const some = this.all || order.length <= MOST_BARS + 1 ? order : order.slice(0, MOST_BARS);
    const rows = some.map((k) => this.classRow(parts, means, k));
    const button = element("button", {
      type: "button",
      class: "plain",
      id: "all-classes",
      onclick: () => this.toggle(),
    });
    button.textContent = this.all ? `Show ${MOST_BARS} classes` : `Show all ${order.length} classes`;
    return [
      element("ul", { class: "tracks", id: "probabilities" }, rows),
      order.length > MOST_BARS + 1 ? button : null,
      element("p", { class: "quiet small" }, "Bars are probabilities; lines are their 90% credible intervals."),
    ].filter(Boolean);
  }

  toggle() {
    this.all = !this.all;
    this.show(this.row);
    this.panel.querySelector("#all-classes")?.focus();
  }

  classRow(parts, means, k) {
    const mixture = this.forest.mixture(parts, k);
    const ends = mixture && [mixture.quantile(0.05), mixture.quantile(0.95)];
    const name = this.report.target.outputs[k];
    const text = [element("b", {}, probability(means[k]))];
    if (ends) text.push(element("span", { class: "quiet" }, ` ${ends[0].toFixed(2)}–${ends[1].toFixed(2)}`));
    const marks = [trackBar(means[k], colourOf(this.report, k)), ends ? trackWhisker(...ends) : null].filter(Boolean);
    const made = trackRow([swatch(colourOf(this.report, k)), shortened(name, 18)], marks, text, name);
    Object.assign(made.dataset, { output: k, value: means[k], low: ends?.[0] ?? "", high: ends?.[1] ?? "" });
    return made;
  }

  numbers({ parts, means }) {
    return means.flatMap((mean, k) => {
      const deviation = this.forest.deviation(parts, means, k);
      const mixture = this.forest.mixture(parts, k);
      const ends = mixture && [mixture.quantile(0.05), mixture.quantile(0.95)];
      const name = means.length > 1 ? element("span", { class: "quiet" }, `${this.report.target.outputs[k]} `) : null;
      const spread = deviation === null ? "" : ` ± ${number(deviation, 3)}`;
      const line = element(
        "p",
        { class: "big" },
        name,
        element("b", {}, number(mean, 4)),
        element("span", { class: "quiet" }, spread),
      );
      Object.assign(line.dataset, {
        output: k,
        value: mean,
        sd: deviation ?? "",
        low: ends?.[0] ?? "",
        high: ends?.[1] ?? "",
      });
      const what = whatNumbersAre(this.report);
      const words = ends
        ? `${what}, which lies between ${number(ends[0], 4)} and ${number(ends[1], 4)} with probability 90%.`
        : `${what}.`;
      return [
        line,
        element("p", { class: "quiet small" }, words),
        mixture ? this.density(mixture, parts, k) : null,
      ].filter(Boolean);
    });
  }

  /** The name of what is observed, which is predicted as a mean. */
  nameOfObservation(output, isCount) {
    const { outputs, mean } = this.report.target;
    const isUnnamed = outputs[output] === mean.noun;
    const name = isUnnamed ? (isCount ? "count" : "value") : shortened(outputs[output], 40);
    return `${name}${mean.new}`;
  }

  /** The density of a new observation, from differences of the mixture's cdf, with the means of the trees below. */
  density(mixture, parts, output) {
    const [low, high] = [mixture.quantile(0.005), mixture.quantile(0.995)];
    const step = mixture.isCount ? Math.max(1, Math.ceil((high - low) / 80)) : (high - low) / 80;
    const edges = Array.from({ length: 82 }, (_, i) => low + (i - (mixture.isCount ? 1 : 0.5)) * step).filter(
      (edge) => edge <= high + step,
    );
    const below = edges.map((edge) => mixture.cdf(edge));
    const xs = edges.slice(1).map((edge, i) => (mixture.isCount ? edge : (edge + edges[i]) / 2));
    const ys = xs.map((_, i) => (below[i + 1] - below[i]) / step);
    const name = this.nameOfObservation(output, mixture.isCount);
    const chart = new Chart({
      label: `Density of ${name} for this row`,
      x: mixture.isCount ? [low - step / 2, high + step / 2] : [low, high],
      y: [0, 1.05 * Math.max(...ys)],
      xName: name,
      yName: mixture.isCount ? "probability" : "density",
      width: 480,
      height: 220,
    });
    if (mixture.isCount) {
      xs.filter((x) => x >= low && x <= high).forEach((x, i) => this.countBar(chart, x, step, ys[i]));
    } else {
      chart.band(
        xs,
        xs.map(() => 0),
        ys,
        "var(--c0)",
      );
      chart.curve(xs, ys, "var(--c0)");
    }
    for (const { leaf, weight } of parts) {
      const [x, y] = [chart.atX(this.forest.meansOf(leaf)[output]), chart.atY(0)];
      const mark = chart.add("line", { x1: x, x2: x, y1: y, y2: y - 6 - 30 * weight, class: "tree-mean" });
      mark.append(
        svg("title", {}, `${percent(weight)} of the trees: mean ${number(this.forest.meansOf(leaf)[output])}`),
      );
    }
    return element(
      "figure",
      { class: "density" },
      chart.plot,
      element(
        "figcaption",
        { class: "quiet small" },
        "Marks are the means of the leaves that the trees send the row to, higher for more weight.",
      ),
    );
  }

  /** The probability of a count, or the mean of `step` counts up to x where there are too many for a bar each. */
  countBar(chart, x, step, probabilityOfOne) {
    const counts = step === 1 ? number(x) : `${number(Math.max(0, x - step + 1))} to ${number(x)}, each`;
    const title = `${counts}: ${probability(probabilityOfOne)}`;
    chart.bar(x - step / 2, x + step / 2, probabilityOfOne, "var(--c0)", title);
  }

  agreement({ leaves, parts, means }) {
    const { weights } = this.report.trees;
    const where = `The trees send this row to ${counted(parts.length, "different set")} of training rows.`;
    if (!this.forest.isClass) return element("p", { class: "small" }, where);
    const best = means.indexOf(Math.max(...means));
    const agree = sum(leaves.map((leaf, tree) => (argmax(this.forest.meansOf(leaf)) === best ? weights[tree] : 0)));
    const words = `${percent(agree)} of the trees, by weight, predict ${this.report.target.outputs[best]}.`;
    return element("p", { class: "small", id: "agreement" }, words, " ", where);
  }
}

/** What the two numbers of a row or a node are: x ± y. */
function whatNumbersAre(report) {
  const { noun, per, new: ofNew, observation } = report.target.mean;
  const what = `${noun[0].toUpperCase()}${noun.slice(1)}${per}${per === "" ? "" : ","}`;
  return `${what} and standard deviation of a new ${observation}${ofNew}`;
}

function argmax(values) {
  return values.indexOf(Math.max(...values));
}

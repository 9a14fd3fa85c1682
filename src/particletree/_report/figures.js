// The sections with figures: gain shares, dependence, scores, sizes of trees, runs.

function gainSharesSection({ gain_shares: shares }) {
  const shown = shares.names.map((name, i) => i).filter((i) => shares.inclusion[i] > 0);
  if (shown.length === 0) return null;
  const largest = Math.max(...shown.map((i) => Math.max(shares.gain_share_high[i], shares.gain_share[i])), 1e-9);
  const rows = shown.map((i) => gainShareRow(shares, i, largest));
  const list = element("ol", { class: "tracks", id: "gain-share-list" }, rows);
  const { figure, button } = foldable(list, rows, 10, "features");
  return section(
    "features",
    "Which features matter",
    paragraph(
      "The bar is a feature’s share in the gain of all splits, in log marginal likelihood; the thin line holds 90% of ",
      "the trees. ",
      "On the right: in how many trees, by weight, the feature is used at all.",
    ),
    figure,
    button,
  );
}

function gainShareRow(shares, i, largest) {
  const { names, gain_share: share, gain_share_low: low, gain_share_high: high, inclusion, inclusion_se: se } = shares;
  const marks = [
    trackBar(share[i] / largest, "var(--c0)"),
    trackWhisker(Math.max(0, low[i]) / largest, Math.max(0, high[i], low[i]) / largest),
  ];
  const error = se[i] >= 0.005 ? ` ± ${percent(se[i])}` : "";
  const text = [
    element("b", {}, share[i].toFixed(2)),
    element("span", { class: "quiet" }, ` in ${percent(inclusion[i])}`, element("span", { class: "error-of" }, error)),
  ];
  return trackRow(
    shortened(names[i], 34),
    marks,
    text,
    `${names[i]}: ${low[i].toFixed(2)} to ${high[i].toFixed(2)} in 90% of the trees`,
  );
}

/** A list of which the first lines are shown, and a button that shows the others. */
function foldable(list, rows, most, noun) {
  if (rows.length <= most + 2) return { figure: list, button: null };
  const hide = (isHidden) => rows.slice(most).forEach((row) => (row.hidden = isHidden));
  hide(true);
  const button = element(
    "button",
    { type: "button", class: "plain", "aria-expanded": "false" },
    `Show all ${rows.length} ${noun}`,
  );
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    button.textContent = isOpen ? `Show all ${rows.length} ${noun}` : `Show ${most} ${noun}`;
    hide(isOpen);
  });
  return { figure: list, button };
}

function dependenceSection(report) {
  const { averaged, panels } = report.dependence;
  if (panels.length === 0) return null;
  const { kind, mean } = report.target;
  const what = kind === "classes" ? "probability" : `predicted ${mean.noun}${mean.per}`;
  const how = averaged
    ? `How the ${what} changes with one feature, on average over rows of the data. Small marks on the axis are the deciles of the feature.`
    : `How the ${what} of a typical row changes with one feature. With the data at hand (--data) the curves are averages over its rows.`;
  return section(
    "dependence",
    "How predictions change with a feature",
    paragraph(how, " The band, or the bar, holds 90% of the trees, by weight."),
    dependenceLegend(report, panels),
    element(
      "div",
      { class: "panels" },
      panels.map((panel) => dependencePanel(report, panel)),
    ),
  );
}

/** Whether every output that is shown has a colour of its own on the whole page; otherwise each panel has its own. */
function haveColours(report) {
  return report.target.kind !== "classes" || report.target.coloured.length === report.target.outputs.length;
}

function panelColour(report, panel, k) {
  return haveColours(report) ? colourOf(report, panel.outputs[k]) : `var(--c${k})`;
}

function dependenceLegend(report, panels) {
  if (!haveColours(report)) return null;
  const outputs = [...new Set(panels.flatMap((panel) => panel.outputs))].sort((a, b) => a - b);
  if (outputs.length < 2) return null;
  return legend(outputs.map((output) => [colourOf(report, output), report.target.outputs[output]]));
}

function legend(entries) {
  return element(
    "ul",
    { class: "legend" },
    entries.map(([colour, name]) => element("li", {}, swatch(colour), name)),
  );
}

function dependencePanel(report, panel) {
  const drawn = panel.levels.length > 0 ? dependenceOnLevels(report, panel) : dependenceOnNumbers(report, panel);
  const own = haveColours(report)
    ? null
    : legend(panel.outputs.map((output, k) => [panelColour(report, panel, k), report.target.outputs[output]]));
  return element("figure", { class: "panel" }, element("figcaption", {}, panel.name), drawn, own);
}

function dependenceRange(report, panel) {
  if (report.target.kind === "classes") {
    const largest = Math.max(...report.dependence.panels.flatMap((each) => each.high.flat()));
    return [0, largest > 0.5 ? 1 : 1.05 * largest];
  }
  return span([...panel.low.flat(), ...panel.high.flat()]);
}

function outputTitle(report, panel) {
  const one = panel.outputs.length === 1 ? report.target.outputs[panel.outputs[0]] : null;
  if (report.target.kind === "classes") return one === null ? "probability" : `probability of ${one}`;
  const { noun } = report.target.mean;
  return one === null || one === noun ? noun : `${noun} of ${one}`;
}

function dependenceOnNumbers(report, panel) {
  const isThere = panel.values.map((value) => value !== null);
  const keep = (values) => values.filter((_, i) => isThere[i]);
  const xs = keep(panel.values);
  const hasMissing = xs.length < panel.values.length;
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const range = high - low || 1;
  const step = Math.min(...xs.slice(1).map((x, i) => x - xs[i]), range);
  const wide = range * (hasMissing ? (panel.is_line ? 0.14 : 0.3) : 0);
  const margin = panel.is_line ? 0 : Math.max(0.04 * range, 0.4 * step); // for dots at the ends
  const isRoomy = step > 0.06 * range && xs.map((x) => number(x, 6)).join("").length <= 24;
  const isFree = (tick) => !hasMissing || !panel.is_line || tick < high - 0.05 * range;
  const chart = new Chart({
    label: `${outputTitle(report, panel)} along ${panel.name}`,
    x: [low - margin, high + wide + margin || low + 1],
    y: dependenceRange(report, panel),
    xName: "",
    yName: outputTitle(report, panel),
    xTicks: (panel.is_line || !isRoomy ? ticks(low, high, 5) : xs).filter(isFree),
    height: 190,
  });
  panel.outputs.forEach((output, k) => {
    const colour = panelColour(report, panel, k);
    if (panel.is_line) {
      chart.band(xs, keep(panel.low[k]), keep(panel.high[k]), colour);
      chart.curve(xs, keep(panel.mean[k]), colour);
    } else {
      xs.forEach((x, i) => {
        const at = x + 0.12 * step * (k - (panel.outputs.length - 1) / 2);
        const title = `${report.target.outputs[output]} at ${number(x, 6)}: ${number(panel.mean[k][i], 3)}`;
        chart.dot(at, panel.mean[k][i], panel.low[k][i], panel.high[k][i], colour, title);
      });
    }
    if (hasMissing) {
      const at = high + wide * (0.5 + 0.12 * (k - (panel.outputs.length - 1) / 2));
      const title = `${report.target.outputs[output]} where it is missing: ${number(panel.mean[k].at(-1), 3)}`;
      chart.dot(at, panel.mean[k].at(-1), panel.low[k].at(-1), panel.high[k].at(-1), colour, title);
    }
  });
  for (const decile of panel.deciles) {
    const [x, y] = [chart.atX(decile), chart.atY(chart.y[0])];
    chart.add("line", { x1: x, x2: x, y1: y, y2: y - 5, class: "rug" });
  }
  if (hasMissing) chart.text("missing", chart.atX(high + wide * 0.5), chart.atY(chart.y[0]) + 15, "middle");
  return chart.plot;
}

function dependenceOnLevels(report, panel) {
  const [low, high] = dependenceRange(report, panel);
  const share = (value) => (value - low) / (high - low);
  const rows = panel.values.map((value, i) => {
    const name = value === null ? "missing" : panel.levels[value];
    const marks = panel.outputs.flatMap((output, k) => [
      styled(trackWhisker(share(panel.low[k][i]), share(panel.high[k][i])), {
        background: panelColour(report, panel, k),
      }),
      trackDot(share(panel.mean[k][i]), panelColour(report, panel, k)),
    ]);
    const text = panel.outputs.length === 1 ? number(panel.mean[0][i], 3) : "";
    const title = panel.outputs
      .map((output, k) => `${report.target.outputs[output]} ${number(panel.mean[k][i], 3)}`)
      .join(", ");
    return trackRow(shortened(name, 18), marks, text, `${name}: ${title}`);
  });
  const scale = element(
    "div",
    { class: "track-scale" },
    element("span", {}, number(low, 3)),
    element("span", {}, outputTitle(report, panel)),
    element("span", {}, number(high, 3)),
  );
  return element("div", { class: "levels" }, element("ul", { class: "tracks scroll" }, rows), scale);
}

const ORIGINS = {
  "held out": (n) => `On ${counted(n, "row")} that the model has not seen.`,
  training: (n) =>
    `On the ${counted(n, "row")} that the model was fitted to. New rows will be predicted less well: score rows that were held out to know how much.`,
  unknown: (n) =>
    `On ${counted(n, "row")}. If the model was fitted to some of them, new rows will be predicted less well.`,
};

function scoresSection(report) {
  const { scores } = report;
  if (!scores) return null;
  const isClass = report.target.kind === "classes";
  const how = isClass
    ? " A point on the diagonal means that what was predicted with some probability happened that often. Bars are 90% intervals; grey columns show how many predictions there are."
    : " A point on the diagonal means that the share of observations below a predicted quantile is as it should be. Bars are 90% intervals." +
      (scores.is_count ? " A count that equals the quantile is divided between both sides." : "");
  return section(
    "calibration",
    "How good predictions are",
    paragraph(ORIGINS[scores.origin](scores.rows), how),
    element(
      "div",
      { class: "side-by-side" },
      element("figure", { class: "panel" }, calibrationChart(scores, isClass)),
      scoresTable(scores),
    ),
  );
}

function calibrationChart(scores, isClass) {
  const chart = new Chart({
    label: isClass
      ? "Observed frequency against predicted probability"
      : "Share of observations below predicted quantiles",
    x: [0, 1],
    y: [0, 1],
    xName: isClass ? "predicted probability" : "predicted quantile",
    yName: isClass ? "observed frequency" : "share of observations below",
    height: 300,
  });
  const largest = Math.max(1, ...scores.counts);
  scores.counts.forEach((count, i) => {
    const at = Math.min(9, Math.floor(scores.predicted[i] * 10)) / 10;
    chart.bar(at + 0.01, at + 0.09, (0.16 * count) / largest, "var(--shade)", counted(count, "prediction"));
  });
  chart.curve([0, 1], [0, 1], "var(--quiet)", "diagonal");
  chart.curve(scores.predicted, scores.observed, "var(--c0)");
  scores.predicted.forEach((p, i) => {
    const title = `predicted ${p.toFixed(2)}, observed ${scores.observed[i].toFixed(2)}${scores.counts[i] ? ` (${counted(scores.counts[i], "prediction")})` : ""}`;
    chart.dot(p, scores.observed[i], scores.low[i], scores.high[i], "var(--c0)", title);
  });
  return chart.plot;
}

function scoresTable(scores) {
  const better = (higher) => (higher === null ? "" : higher ? "; higher is better" : "; lower is better");
  const rows = scores.scores.map((score) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        score.name,
        element("span", { class: "quiet small block" }, `${score.meaning}${better(score.higher)}`),
      ),
      element("td", {}, element("b", {}, number(score.value, 3))),
      element("td", { class: "quiet" }, number(score.guess, 3)),
    ),
  );
  const head = ["Score", "this model", "plain guess"].map((name) => element("th", { scope: "col" }, name));
  return element(
    "div",
    { class: "scores" },
    element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)),
    element(
      "p",
      { class: "quiet small" },
      "The plain guess knows how the target is distributed in the training rows, and no feature.",
    ),
  );
}

function sizesSection({ sizes }) {
  const panels = [
    ["leaves", "Leaves of a tree"],
    ["depths", "Depth of a tree"],
  ].map(([part, name]) => element("figure", { class: "panel" }, sizesChart(sizes[part], name)));
  const prior = sizes.rough
    ? "prior, roughly: without the training rows it tends to be too large"
    : "prior, before the data";
  return section(
    "sizes",
    "How large the trees are",
    paragraph("What the data have made of the prior: where both agree, the data say little about the size of a tree."),
    legend([
      ["var(--c0)", "posterior, given the data"],
      ["var(--c1)", prior],
    ]),
    element("div", { class: "panels two" }, panels),
  );
}

function sizesChart(part, name) {
  const { edges, posterior, prior, logarithmic } = part;
  const x = logarithmic ? [Math.max(0.5, edges[0]), edges.at(-1)] : [edges[0], edges.at(-1)];
  const xTicks = logarithmic ? powers(...x).filter(Number.isInteger) : null;
  const chart = new Chart({
    xTicks,
    label: name,
    x,
    y: [0, 1.06 * Math.max(...posterior, ...prior)],
    xName: name.toLowerCase(),
    yName: "probability",
    logarithmic,
  });
  posterior.forEach((height, i) => {
    const sizes = edges[i + 1] - edges[i] > 1 ? `${edges[i] + 0.5} to ${edges[i + 1] - 0.5}` : `${edges[i] + 0.5}`;
    if (height > 0) chart.bar(edges[i], edges[i + 1], height, "var(--c0-soft)", `${sizes}: ${percent(height)}`);
  });
  const steps = prior.flatMap((height, i) => [
    [edges[i], height],
    [edges[i + 1], height],
  ]);
  chart.curve(
    steps.map(([at]) => at),
    steps.map(([, height]) => height),
    "var(--c1)",
  );
  return chart.plot;
}

function runsSection({ runs }) {
  if (runs.scores.length < 2) return null;
  const hasDistances = runs.distances.some((distance) => distance !== null);
  const panels = [
    runsChart(runs, runs.score, runs.scores, null, runs.together),
    runsChart(runs, "mean leaves (± sd over trees)", runs.leaves, runs.leaves_sd, runs.leaves_together),
    hasDistances ? runsChart(runs, `distance (${runs.unit})`, runs.distances, null, null) : null,
  ];
  return section(
    "runs",
    `The ${runs.kind}s compared`,
    paragraph(
      `The ${runs.scores.length} ${runs.kind}s are independent runs of the sampler. Where they disagree, the answer depends on the seed. `,
      "The dashed line is all of them together",
      hasDistances ? "; the last panel shows how far each one’s predictions are from those of all." : ".",
    ),
    element(
      "div",
      { class: "panels" },
      panels.map((panel) => panel && element("figure", { class: "panel" }, panel)),
    ),
  );
}

function runsChart(runs, name, values, spread, together) {
  const around = values.flatMap((value, i) => (spread ? [value - spread[i], value + spread[i]] : [value]));
  const range = span([...around, ...(together === null ? [0] : [together])], 0.1);
  const y = together === null ? [0, range[1]] : range;
  const n = values.length;
  const numbers = n <= 10 ? values.map((_, i) => i + 1) : null;
  const chart = new Chart({
    label: `${name} of each ${runs.kind}`,
    x: [0.5, n + 0.5],
    y,
    xName: runs.kind,
    yName: name,
    xTicks: numbers,
  });
  if (together !== null) chart.curve([0.5, n + 0.5], [together, together], "var(--c1)", "diagonal");
  values.forEach((value, i) => {
    if (value === null) return;
    const [low, high] = spread ? [value - spread[i], value + spread[i]] : [value, value];
    chart.dot(i + 1, value, low, high, "var(--c0)", `${runs.kind} ${i + 1}: ${number(value)}`);
  });
  return chart.plot;
}

// Line charts in SVG: axes, curves with bands, points with bars. Colours are those of the style sheet.

const MARGIN = { top: 10, right: 12 };

/** Round numbers that cover a range. */
function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= rough * 0.999) * unit;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) found.push(i * step);
  return found;
}

/** Numbers with as many digits as are needed to distinguish them. */
function tickTexts(values) {
  const [first, last] = [Math.abs(values[0]), Math.abs(values.at(-1))];
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 1;
  const digits = Math.min(12, Math.max(3, Math.ceil(Math.log10(Math.max(first, last, step) / step)) + 2));
  return values.map((value) => number(value, digits));
}

class Chart {
  /** x and y are ranges; a logarithmic x is for sizes that span a wide range. */
  constructor({ label, x, y, xName, yName, width = 360, height = 220, logarithmic = false, xTicks = null }) {
    const widest = Math.max(...tickTexts(ticks(...y, 4)).map((text) => text.length));
    Object.assign(this, { x, y, width, height, logarithmic, bottom: xName ? 38 : 24, left: 26 + 6.6 * widest });
    this.plot = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart" });
    this.drawAxes(xName, yName, xTicks);
  }

  atX(value) {
    const scale = this.logarithmic ? Math.log : (each) => each;
    const share = (scale(value) - scale(this.x[0])) / (scale(this.x[1]) - scale(this.x[0]) || 1);
    return this.left + share * (this.width - this.left - MARGIN.right);
  }

  atY(value) {
    const share = (value - this.y[0]) / (this.y[1] - this.y[0] || 1);
    return this.height - this.bottom - share * (this.height - MARGIN.top - this.bottom);
  }

  drawAxes(xName, yName, xTicks) {
    const bottom = this.height - this.bottom;
    const heights = ticks(...this.y, 4);
    const names = tickTexts(heights);
    for (const [i, value] of heights.entries()) {
      this.add("line", {
        x1: this.left,
        x2: this.width - MARGIN.right,
        y1: this.atY(value),
        y2: this.atY(value),
        class: "grid",
      });
      this.text(names[i], this.left - 6, this.atY(value) + 3.5, "end");
    }
    const places = xTicks ?? (this.logarithmic ? powers(...this.x) : ticks(...this.x, 5));
    const placeNames = tickTexts(places);
    for (const [i, value] of places.entries()) {
      this.add("line", { x1: this.atX(value), x2: this.atX(value), y1: bottom, y2: bottom + 4, class: "axis" });
      this.text(placeNames[i], this.atX(value), bottom + 15, "middle");
    }
    this.add("line", { x1: this.left, x2: this.width - MARGIN.right, y1: bottom, y2: bottom, class: "axis" });
    if (xName)
      this.text(shortened(xName, 48), (this.left + this.width - MARGIN.right) / 2, this.height - 5, "middle", "name");
    const middle = (MARGIN.top + bottom) / 2;
    const name = this.text(shortened(yName, 34), 11, middle, "middle", "name");
    name.setAttribute("transform", `rotate(-90 11 ${middle})`);
  }

  add(name, attributes, ...children) {
    const made = svg(name, attributes, ...children);
    this.plot.append(made);
    return made;
  }

  text(words, x, y, anchor, kind = "tick") {
    return this.add("text", { x, y, "text-anchor": anchor, class: kind }, words);
  }

  points(xs, ys) {
    return xs.map((x, i) => `${this.atX(x).toFixed(2)},${this.atY(ys[i]).toFixed(2)}`).join(" ");
  }

  curve(xs, ys, colour, kind = "curve") {
    return styled(this.add("polyline", { points: this.points(xs, ys), class: kind }), { stroke: colour });
  }

  band(xs, low, high, colour) {
    const points = `${this.points(xs, low)} ${this.points([...xs].reverse(), [...high].reverse())}`;
    styled(this.add("polygon", { points, class: "band" }), { fill: colour });
  }

  /** A point with a bar from low to high, and a title that the pointer shows. */
  dot(x, y, low, high, colour, title) {
    const group = this.add("g", {}, svg("title", {}, title));
    const bar = svg("line", {
      x1: this.atX(x),
      x2: this.atX(x),
      y1: this.atY(low),
      y2: this.atY(high),
      class: "whisker",
    });
    const point = svg("circle", { cx: this.atX(x), cy: this.atY(y), r: 3.6 });
    group.append(styled(bar, { stroke: colour }), styled(point, { fill: colour }));
  }

  bar(from, to, height, colour, title) {
    const [left, right, top] = [this.atX(from), this.atX(to), this.atY(height)];
    const box = { x: left + 0.5, y: top, width: Math.max(0.5, right - left - 1), height: this.atY(this.y[0]) - top };
    styled(this.add("rect", { ...box, class: "bar" }, svg("title", {}, title)), { fill: colour });
  }
}

function powers(low, high) {
  const found = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    for (const factor of [1, 2, 5]) if (factor * power >= low && factor * power <= high) found.push(factor * power);
  }
  return found;
}

/** The ends of some numbers, with a margin. */
function span(values, share = 0.06) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const margin = high > low ? share * (high - low) : Math.abs(high) * 0.1 || 1;
  return [low - margin, high + margin];
}

/** A line of a list with a bar or points on a track, in the page's own text; the title has a long name in full. */
function trackRow(name, marks, text, title) {
  const track = element("span", { class: "track" }, marks);
  return element(
    "li",
    { class: "track-row", title },
    element("span", { class: "track-name" }, name),
    track,
    element("span", { class: "track-text" }, text),
  );
}

function trackBar(share, colour) {
  return styled(element("span", { class: "track-bar" }), { width: `${100 * share}%`, background: colour });
}

function trackWhisker(low, high) {
  return styled(element("span", { class: "track-whisker" }), {
    left: `${100 * low}%`,
    width: `${100 * (high - low)}%`,
  });
}

function trackDot(share, colour) {
  return styled(element("span", { class: "track-dot" }), { left: `${100 * share}%`, background: colour });
}

// Elements and texts. Whatever comes from the data enters the page as text, never as markup.

function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/** Sets styles by the object model, which the page's security policy allows where it forbids style attributes. */
function styled(made, styles) {
  for (const [name, value] of Object.entries(styles)) made.style.setProperty(name, value);
  return made;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** A number for reading: about so many significant digits, no more than the reader needs. */
function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const text =
    size !== 0 && (size >= 1e7 || size < 1e-4)
      ? value.toExponential(Math.max(0, digits - 2))
      : Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
  return text.replace("-", "−");
}

/** A threshold: all of its digits if they are few, or else some and a sign that there are more. */
function cutNumber(value) {
  const text = String(value).replace("-", "−");
  if (text.length <= 9) return text;
  const short = String(Number(value.toPrecision(5))).replace("-", "−");
  return `${short}…`;
}

function probability(value) {
  if (value >= 0.9995 && value < 1) return "> 0.999";
  if (value > 0 && value < 0.0005) return "< 0.001";
  return value.toFixed(3);
}

function percent(value) {
  if (value > 0 && value < 0.005) return "< 1%";
  if (value < 1 && value > 0.995) return "> 99%";
  return `${Math.round(100 * value)}%`;
}

function counted(count, noun, plural = `${noun}s`) {
  return `${number(count, 6)} ${count === 1 ? noun : plural}`;
}

/** A name that fits, with an ellipsis in its middle: names often differ at the end. */
function shortened(name, longest) {
  if (name.length <= longest) return name;
  const end = Math.floor((longest - 1) / 2);
  return `${name.slice(0, longest - 1 - end)}…${name.slice(name.length - end)}`;
}

/** The colour of an output: its place among those that have one, or grey. */
function colourOf(report, output) {
  const place = report.target.kind === "classes" ? report.target.coloured.indexOf(output) : output % 7;
  return place < 0 ? "var(--other)" : `var(--c${place})`;
}

function swatch(colour) {
  return styled(element("span", { class: "swatch", "aria-hidden": "true" }), { background: colour });
}

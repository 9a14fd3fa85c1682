// The page: sections one after the other, their names above, and light or dark.

function section(id, heading, ...children) {
  return element(
    "section",
    { id, "aria-labelledby": `${id}-heading` },
    element("h2", { id: `${id}-heading` }, heading),
    children,
  );
}

function paragraph(...children) {
  return element("p", { class: "lead-in" }, children);
}

function summarySection(report) {
  const figures = report.figures.map(({ name, value, note }) =>
    element(
      "div",
      { class: "figure" },
      element("dt", {}, name),
      element("dd", {}, element("b", {}, value), note ? element("span", { class: "quiet small block" }, note) : null),
    ),
  );
  return section(
    "summary",
    "In short",
    report.sentences.map((sentence) => element("p", {}, sentence)),
    element("dl", { class: "figures" }, figures),
  );
}

const LEVELS = { good: ["✓", "Good"], note: ["i", "Note"], warning: ["!", "Warning"] };

function trustSection({ findings }) {
  const items = findings.map(({ level, finding, number: figure, advice }) => {
    const [sign, word] = LEVELS[level];
    return element(
      "li",
      { class: `finding ${level}` },
      element("span", { class: "sign", role: "img", "aria-label": word }, sign),
      element(
        "div",
        {},
        element("p", {}, finding, figure === null ? null : element("span", { class: "quiet" }, ` (${figure})`)),
        advice ? element("p", { class: "advice" }, advice) : null,
      ),
    );
  });
  return section("trust", "How far to trust it", element("ul", { class: "findings" }, items));
}

function originSection({ provenance, version }) {
  const rows = provenance.map(([name, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)),
  );
  return section(
    "origin",
    "How it was made",
    element("table", { class: "origin" }, element("tbody", {}, rows)),
    element(
      "p",
      { class: "quiet small" },
      `The page was written by particletree ${version}. It needs no network and holds no row of the data: counts, means and quantiles, the values at which trees cut, and names.`,
    ),
  );
}

const SHORT = {
  summary: "In short",
  calibration: "How good",
  trust: "Trust",
  explore: "Explore",
  features: "Features",
  dependence: "Dependence",
  sizes: "Sizes",
  runs: "Runs",
  origin: "Origin",
};

function navigation(sections) {
  return element(
    "ul",
    {},
    sections.map(({ id }) => element("li", {}, element("a", { href: `#${id}` }, SHORT[id]))),
  );
}

/** The button goes from the system's colours to the others, and back. */
function themeButton() {
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark";
  const button = element("button", { type: "button", id: "theme" });
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  prefersDark.addEventListener("change", name);
  name();
  return button;
}

function start() {
  const report = JSON.parse(document.getElementById("data").textContent);
  const explorer = new Explorer(report);
  const sections = [
    summarySection(report),
    scoresSection(report),
    trustSection(report),
    explorer.section,
    gainSharesSection(report),
    dependenceSection(report),
    sizesSection(report),
    runsSection(report),
    originSection(report),
  ].filter(Boolean);
  document.getElementById("heading").textContent = report.title;
  document.getElementById("sections").replaceChildren(navigation(sections));
  document.getElementById("top").append(themeButton());
  document.getElementById("report").replaceChildren(...sections);
  document.documentElement.dataset.ready = performance.now().toFixed(0);
}

start();

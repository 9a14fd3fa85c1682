// The trees: which side a row takes, where it ends, and what follows for its prediction.

const CUT_MISSING_LEFT = 1;
const PRESENT = 2;
const SET = 3;

class Forest {
  constructor(report) {
    const { trees, blocks, target, features } = report;
    Object.assign(this, { trees, blocks, features, nodes: trees.nodes });
    this.isClass = target.kind === "classes";
    this.nOutputs = target.outputs.length;
    const { node, support, n_runs } = trees.support;
    this.supports = new Map(node.map((number, i) => [number, { support: support[i], runs: n_runs[i] }]));
  }

  /** The support of a node, and the number of runs that it rests on; undefined for a tree that has none here. */
  supportOf(node) {
    return this.supports.get(node);
  }

  /** Whether only one of several runs has found a node. */
  isOfOneRun(node) {
    return this.trees.support.all_runs > 1 && this.supportOf(node)?.runs === 1;
  }

  isLeaf(node) {
    return this.nodes.feature[node] < 0;
  }

  /** Whether a set of levels, hexadecimal digits with a bit for each number, has a number. */
  hasLevel(set, number) {
    const digits = this.nodes.sets[set];
    const place = Math.min(number, digits.length * 4 - 1);
    return ((parseInt(digits[place >> 2], 16) >> (3 - (place & 3))) & 1) === 1;
  }

  /** Whether a value goes left at a node; NaN is a missing number, and levels are given by their numbers. */
  goesLeft(node, value) {
    const { rule, threshold, set } = this.nodes;
    if (rule[node] === SET) return this.hasLevel(set[node], value);
    if (Number.isNaN(value)) return rule[node] === CUT_MISSING_LEFT;
    return rule[node] === PRESENT || value <= threshold[node];
  }

  /** The nodes from a root to the leaf of a row. */
  path(root, row) {
    const nodes = [root];
    for (let node = root; !this.isLeaf(node);) {
      const isLeft = this.goesLeft(node, row[this.nodes.feature[node]]);
      node = isLeft ? this.nodes.left[node] : this.nodes.right[node];
      nodes.push(node);
    }
    return nodes;
  }

  leaf(root, row) {
    return this.path(root, row).at(-1);
  }

  countsOf(node) {
    const counts = new Array(this.nOutputs).fill(0);
    const pairs = this.blocks.counts[this.nodes.block[node]];
    for (let i = 0; i < pairs.length; i += 2) counts[pairs[i]] = pairs[i + 1];
    return counts;
  }

  rowsOf(node) {
    return this.isClass ? sum(this.countsOf(node)) : this.blocks.rows[this.nodes.block[node]];
  }

  /** The prediction of a node as if it were a leaf: class probabilities, or means. */
  meansOf(node) {
    const block = this.nodes.block[node];
    if (!this.isClass) return this.blocks.means.map((means) => means[block]);
    if (this.blocks.means) return this.blocks.means[block];
    const counts = this.countsOf(node).map((count) => count + this.blocks.pseudo);
    const total = sum(counts);
    return counts.map((count) => count / total);
  }

  deviationOf(node, output) {
    return this.blocks.deviations[output][this.nodes.block[node]];
  }

  /** What all trees together say of a row. */
  predict(row) {
    const { roots, weights } = this.trees;
    const leaves = roots.map((root) => this.leaf(root, row));
    const shares = new Map();
    leaves.forEach((leaf, tree) => {
      const block = this.nodes.block[leaf];
      const known = shares.get(block) ?? { leaf, weight: 0 };
      shares.set(block, { leaf, weight: known.weight + weights[tree] });
    });
    const parts = [...shares.values()];
    const means = new Array(this.nOutputs).fill(0);
    for (const { leaf, weight } of parts) this.meansOf(leaf).forEach((mean, k) => (means[k] += weight * mean));
    return { leaves, parts, means };
  }

  /** The mixture over trees of the distributions of a class probability, or of a new observation; null if it is not known. */
  mixture(parts, output) {
    if (this.isClass) {
      if (this.blocks.pseudo === null) return null;
      const { pseudo } = this.blocks;
      const components = parts.map(({ leaf, weight }) => {
        const counts = this.countsOf(leaf);
        const rest = sum(counts) - counts[output] + pseudo * (this.nOutputs - 1);
        return [weight, counts[output] + pseudo, Math.max(rest, 1e-300)];
      });
      return new Mixture("beta", components, 0, 1);
    }
    if (!this.blocks.family) return null;
    const distributions = this.blocks.distributions[output];
    const components = parts.map(({ leaf, weight }) => [weight, ...distributions.map((each) => each[this.nodes.block[leaf]])]);
    const ends = parts.flatMap(({ leaf }) => {
      const mean = this.meansOf(leaf)[output];
      const deviation = this.deviationOf(leaf, output) ?? Math.abs(mean) + 1;
      return [mean - 3 * deviation, mean + 3 * deviation];
    });
    return new Mixture(this.blocks.family, components, Math.min(...ends), Math.max(...ends));
  }

  /** The standard deviation of a new observation: within leaves, and between trees. Null if it is infinite. */
  deviation(parts, means, output) {
    let variance = 0;
    for (const { leaf, weight } of parts) {
      const within = this.deviationOf(leaf, output);
      if (within === null) return null;
      variance += weight * (within ** 2 + (this.meansOf(leaf)[output] - means[output]) ** 2);
    }
    return Math.sqrt(variance);
  }

  /** The levels of a feature that can come to a node at all, given those that come to its parent. */
  levelsAt(feature) {
    const { levels, missing } = this.features[feature];
    return Array.from({ length: levels.length + (missing ? 1 : 0) }, (_, number) => number);
  }

  /** The question of a node in words, in two parts: the feature and the condition; and the levels of either side. */
  question(node, known) {
    const { feature, rule, threshold, set } = this.nodes;
    const about = this.features[feature[node]];
    if (rule[node] === PRESENT) return { feature: about.name, condition: "is present", left: known, right: known };
    if (rule[node] !== SET) {
      const orMissing = about.missing && rule[node] === CUT_MISSING_LEFT ? " or missing" : "";
      const condition = `≤ ${cutNumber(threshold[node])}${orMissing}`;
      return { feature: about.name, condition, left: known, right: known };
    }
    const numbers = known.get(feature[node]) ?? this.levelsAt(feature[node]);
    const left = numbers.filter((number) => this.hasLevel(set[node], number));
    const right = numbers.filter((number) => !this.hasLevel(set[node], number));
    const sides = [left, right].map((side) => new Map(known).set(feature[node], side));
    return { feature: about.name, condition: setCondition(about.levels, left, right), left: sides[0], right: sides[1] };
  }
}

function setCondition(levels, left, right) {
  const isLevel = (number) => number < levels.length;
  const [ours, theirs] = [left.filter(isLevel), right.filter(isLevel)];
  const hasMissing = ours.length < left.length;
  if (ours.length === 0) return "is missing";
  if (theirs.length === 0 && !hasMissing) return "is present";
  const isShorter = theirs.length > 0 && theirs.length < ours.length;
  const listed = isShorter ? theirs : ours;
  const names = listed.slice(0, 8).map((number) => levels[number]);
  const more = listed.length > 8 ? `, … ${listed.length - 8} more` : "";
  return `${isShorter ? "not in" : "in"} {${names.join(", ")}${more}}${hasMissing ? " or missing" : ""}`;
}

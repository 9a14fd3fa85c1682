// Distributions of one number and mixtures of them: the twins of particletree/_model/distributions. A quantile is found by halving.

function logGamma(x) {
  if (x > 50) {
    const z = 1 / (x * x);
    return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680))) / x;
  }
  // Gamma(x) = Gamma(x + n) / (x (x + 1) ...): the series above is exact to all digits from 50 on.
  let shift = 0;
  while (x <= 50) {
    shift += Math.log(x);
    x += 1;
  }
  return logGamma(x) - shift;
}

/** The regularised incomplete beta function, by the continued fraction of Lentz's method. */
function incompleteBeta(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  const nonzero = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 1000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const step of [even, odd]) {
      d = 1 / nonzero(1 + step * d);
      c = nonzero(1 + step / c);
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return Math.min(1, (Math.exp(front) * fraction) / a);
}

function studentCdf(df, z) {
  const tail = incompleteBeta(df / 2, 0.5, df / (df + z * z)) / 2;
  return z > 0 ? 1 - tail : tail;
}

/** Probability of at most x under each family, by its parameters in the order of the Python classes. */
const CDF = {
  beta: (x, a, b) => incompleteBeta(a, b, x),
  student: (x, df, location, scale) => studentCdf(df, (x - location) / scale),
  normal: (x, location, scale) => studentCdf(1e9, (x - location) / scale), // equal to 9 digits
  "negative binomial": (x, shape, rate) => (x < 0 ? 0 : incompleteBeta(shape, Math.floor(x) + 1, rate / (1 + rate))),
  lomax: (x, shape, scale) => (x <= 0 ? 0 : -Math.expm1(-shape * Math.log1p(x / scale))),
};

class Mixture {
  /** Components are lists of a weight and the parameters of a distribution; low and high lie around all that matters. */
  constructor(family, components, low, high) {
    Object.assign(this, { family, components, low, high, isCount: family === "negative binomial" });
  }

  cdf(x) {
    const distribution = CDF[this.family];
    let total = 0;
    for (const [weight, ...parameters] of this.components) total += weight * distribution(x, ...parameters);
    return total;
  }

  quantile(q) {
    let { low, high } = this;
    if (this.family !== "beta") {
      for (let i = 0; i < 200 && this.cdf(high) < q; i += 1) high += high - low + 1;
      for (let i = 0; i < 200 && this.cdf(low) > q; i += 1) low -= high - low + 1;
    }
    if (this.isCount) return this.smallestCount(q, high);
    for (let i = 0; i < 100 && high - low > 1e-12 * Math.max(1e-300, Math.abs(low), Math.abs(high)); i += 1) {
      const middle = low / 2 + high / 2;
      if (this.cdf(middle) < q) low = middle;
      else high = middle;
    }
    return low / 2 + high / 2;
  }

  /** The smallest whole number with a probability of at least q at or below it. */
  smallestCount(q, high) {
    let [below, reached] = [-1, Math.max(0, Math.ceil(high))];
    while (reached - below > 1) {
      const middle = Math.floor((below + reached) / 2);
      if (this.cdf(middle) >= q) reached = middle;
      else below = middle;
    }
    return reached;
  }
}

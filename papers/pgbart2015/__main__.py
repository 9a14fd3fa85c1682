"""`python -m papers.pgbart2015` prints the table of the hypercubes; `--quick` runs a small part of it."""

from __future__ import annotations

import argparse
import sys

from papers.pgbart2015.hypercube import (
    DIMENSIONS,
    N_ITERATIONS,
    compare,
    comparisons_to_markdown,
    measure,
    to_markdown,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the experiment, show its progress, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m papers.pgbart2015", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two and three dimensions, short chains: seconds")
    parser.add_argument("--seed", type=int, default=0, help="of the data and of the chains")
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS, help="2 to 7 unless told otherwise")
    parser.add_argument("--data-sets", type=int, default=1, help="from this seed on, which a table compares")
    told = parser.parse_args(arguments)
    results = []
    dimensions, n_iterations = ((2, 3), 200) if told.quick else (told.dimensions, N_ITERATIONS)
    for seed in range(told.seed, told.seed + told.data_sets):
        for result in measure(dimensions, n_iterations, seed):
            sys.stderr.write(f"D = {result.dimension}, {result.method}: {result.ess:.0f} in {result.seconds:.1f} s\n")
            results.append(result)
    table = to_markdown(results) if told.data_sets == 1 else comparisons_to_markdown(compare(results))
    sys.stdout.write(f"{table}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

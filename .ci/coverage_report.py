"""Prints the coverage of the Python code by the last `pytest --cov`, and the files below 90%.

Code that runs in processes started by a test is not counted.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import coverage

ENOUGH = 90.0
Counts = dict[str, float]  # by coverage's names: num_statements, covered_lines, percent_covered


def main() -> None:
    """Print the figures."""
    files = read_report()
    for part in ("src/particletree", "benchmarks", "papers", ""):
        here = [counts for name, counts in files.items() if name.startswith(part)]
        n_lines, n_run = (sum(counts[key] for counts in here) for key in ("num_statements", "covered_lines"))
        print(f"{part or 'all'}: {n_run / max(1, n_lines):.1%} of {n_lines:,.0f} lines")
    for name, counts in sorted(files.items()):
        if counts["percent_covered"] < ENOUGH:
            print(f"below {ENOUGH:.0f}%: {name} {counts['percent_covered']:.1f}%")


def read_report() -> dict[str, Counts]:
    """Return the counts of each file."""
    measured = coverage.Coverage()
    measured.load()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "coverage.json"
        measured.json_report(outfile=str(file))
        content = json.loads(file.read_text(encoding="utf-8"))
    return {name: entry["summary"] for name, entry in content["files"].items()}


if __name__ == "__main__":
    main()

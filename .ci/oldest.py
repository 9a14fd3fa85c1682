"""Installs the oldest version that pyproject.toml allows of everything that the package and its tests need.

In an environment that has the package itself and `packaging`; then `pytest -n 2` runs the tests on them. The bounds are
read from the installed package, so that there is no second list of them. Take the oldest Python that is supported: new
ones have no wheels of old packages.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires

from packaging.requirements import Requirement


def main() -> None:
    """Install them."""
    needed = [Requirement(text) for text in requires("particletree") or []]
    here = [need for need in needed if need.marker is None or need.marker.evaluate({"extra": "test"})]
    oldest = [f"{need.name}=={lower_bound(need)}" for need in here]
    print(*oldest, sep="\n")
    subprocess.run([sys.executable, "-m", "pip", "install", "--only-binary", ":all:", *oldest], check=True)


def lower_bound(need: Requirement) -> str:
    """Return the version behind `>=`."""
    versions = [bound.version for bound in need.specifier if bound.operator == ">="]
    if len(versions) != 1:
        raise ValueError(f"{need} has {len(versions)} lower bounds in pyproject.toml, expected one, such as '>=1.2'")
    return versions[0]


if __name__ == "__main__":
    main()

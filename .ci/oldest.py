"""Installs the oldest versions that pyproject.toml allows of all dependencies of the package and its tests.

Run it in an environment with the package itself and `packaging`; then run the tests with `pytest -n 2`. The bounds are
read from the installed package, so that there is no second list. Use the oldest supported Python, because old packages
have no wheels for new versions.
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
    """Return the version after `>=`."""
    versions = [bound.version for bound in need.specifier if bound.operator == ">="]
    if len(versions) != 1:
        raise ValueError(f"{need} has {len(versions)} lower bounds in pyproject.toml, expected one, such as '>=1.2'")
    return versions[0]


if __name__ == "__main__":
    main()

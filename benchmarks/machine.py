"""The machine and the versions with which the figures were measured."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

CPU = Path("/proc/cpuinfo")
MEMORY = Path("/proc/meminfo")
PACKAGES = ("scikit-learn", "numpy", "scipy", "joblib")


def describe_machine(version: str) -> dict[str, str]:
    """Return processor, cores, memory, operating system, versions (ours is given) and today's date, as text."""
    return {
        "processor": processor(),
        "cores": str(n_cores()),
        "memory": memory(),
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "particletree": version,
        **{package: importlib.metadata.version(package) for package in PACKAGES},
        "date": datetime.date.today().isoformat(),
    }


def n_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Return the name of the processor, if the system reports it."""
    return field_of(CPU, "model name") or platform.processor() or platform.machine()


def memory() -> str:
    """Return the memory of the machine."""
    total = field_of(MEMORY, "MemTotal")
    return "unknown" if total is None else f"{int(total.split()[0]) / 2**20:.1f} GiB"


def field_of(path: Path, name: str) -> str | None:
    """Return the first value of a name in a file with lines `name: value`, None if there is none."""
    if not path.exists():
        return None
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None

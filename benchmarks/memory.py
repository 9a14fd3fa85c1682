"""How much memory a call takes: the rise of the process's peak above what stood before.

Counted is everything that the call allocates, whether it keeps it or not: for a fit that is the prepared data, the
blocks, the particles, the trees of the posterior. Not counted is what the caller held before, such as X and y. On Linux
the peak of the resident memory (VmHWM) is set back just before the call, so that making X does not hide behind it.
Elsewhere the system's peak cannot be set back and the rise is a lower bound; where no peak can be read, it is None.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def peak_rise(call: Callable[[], Any]) -> int | None:
    """Return by how many bytes the peak memory during a call exceeds the memory before it.

    Best asked once, early in a process of its own: memory that was freed before, and kept by the allocator, would hide
    what the call takes.
    """
    gc.collect()
    return_free_memory()
    reset_peak()
    before = resident_bytes()
    call()
    after = peak_bytes()
    return None if before is None or after is None else max(0, after - before)


def return_free_memory() -> None:
    """Ask the allocator to give unused memory back; glibc can, others are left alone."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def reset_peak() -> None:
    """Set the peak back to what is resident now, where the system allows it."""
    try:
        CLEAR.write_text("5")
    except OSError:
        return


def resident_bytes() -> int | None:
    """Return the memory that is resident now; off Linux the peak so far, which makes a rise a lower bound."""
    return read_status("VmRSS") if STATUS.exists() else peak_bytes()


def peak_bytes() -> int | None:
    """Return the peak of the resident memory."""
    if STATUS.exists():
        return read_status("VmHWM")
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def read_status(field: str) -> int | None:
    """Return a field of Linux's own account of this process, in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    return None

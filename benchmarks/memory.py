"""The memory of a call: the increase of the process's peak memory over the memory before the call.

It includes everything that the call allocates, temporarily or not: for a fit, the prepared data, the blocks, the
particles and the trees of the posterior. It does not include the caller's data, such as X and y. On Linux the peak of
the resident memory (VmHWM) is reset just before the call, so that an earlier peak does not hide that of the call. On
other systems it cannot be reset and the increase is a lower bound; if no peak can be read, it is None.
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

    Best used once, early in a separate process: free memory that the allocator has kept would hide allocations of the
    call.
    """
    gc.collect()
    return_free_memory()
    reset_peak()
    before = resident_bytes()
    call()
    after = peak_bytes()
    return None if before is None or after is None else max(0, after - before)


def return_free_memory() -> None:
    """Make the allocator return unused memory to the system, with glibc; others cannot."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def reset_peak() -> None:
    """Reset the peak to the present resident memory, if the system allows it."""
    try:
        CLEAR.write_text("5")
    except OSError:
        return


def resident_bytes() -> int | None:
    """Return the present resident memory; on other systems than Linux the peak so far, which gives a lower bound."""
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
    """Return a field of /proc/self/status, in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return 1024 * int(line.split()[1])
    return None

"""Detection of Ctrl-C during work whose partial result is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C has been pressed; the previous signal handler is still called.

    Python raises `KeyboardInterrupt` wherever the main thread is. Inside a finaliser or the callback of a weak
    reference the exception is printed and dropped, so a loop that only catches it would miss the interrupt.
    """
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield pressed.is_set
        return

    def notice(number: int, frame: Any) -> None:
        pressed.set()
        before(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)

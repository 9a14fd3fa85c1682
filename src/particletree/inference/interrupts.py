"""Ctrl-C during work that keeps what is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], bool]]:
    """Give a function that tells whether Ctrl-C was pressed since; what Ctrl-C did before, it does still.

    Python raises `KeyboardInterrupt` wherever the main thread is. Inside a finaliser or the callback of a weak
    reference the exception is printed and dropped: a loop that only catches it would go on as if nothing had happened.
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

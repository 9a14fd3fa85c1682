"""Ctrl-C, pressed by a test."""

import os
import signal
import threading


def ctrl_c_after(seconds: float) -> threading.Timer:
    """Return a timer that, once started, interrupts this process as Ctrl-C does."""
    if os.name == "nt":  # where os.kill would end the process
        return threading.Timer(seconds, signal.raise_signal, (signal.SIGINT,))
    return threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))

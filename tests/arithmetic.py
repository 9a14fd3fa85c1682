"""Cells that are quick and can be watched: each leaves a mark when it runs. Workers import them from here."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEADLY = 13


@dataclass(frozen=True)
class Square:
    """Squares a number, and leaves a line in a file each time that it does."""

    number: int
    marks: Path
    pause: float = 0.0

    @property
    def description(self) -> dict[str, Any]:
        return {"number": self.number}

    @property
    def cost(self) -> float:
        return 1.0 + self.number

    def run(self) -> dict[str, Any]:
        if self.number < 0:
            raise ArithmeticError("negative numbers are left out on purpose")
        with self.marks.open("a") as file:
            file.write(f"{self.number}\n")
        if self.number == DEADLY:
            os._exit(1)  # as a process does that the system ends for lack of memory
        time.sleep(self.pause)
        return {"square": self.number**2}

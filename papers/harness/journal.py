"""The results file: one line of JSON per finished cell, written at once, so that a killed run loses nothing.

The first line has the conditions: machine, versions, scale. A line is complete if it ends with a line feed; an
incomplete line of a killed run is removed when the file is opened again. Cells are appended as they finish; when a run
is complete the file is sorted by the cells' descriptions, so that an interrupted run gives the same file as an
uninterrupted one (except times).

A folder holds results of one set of conditions, so that a quick run cannot overwrite the figures of a full one. All of
them come from one machine with one set of versions: times of two machines cannot be compared, and two versions may draw
different trees from the same seed. So another machine can read a file, and rewrite the page of a finished run, but not
add to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

FORMAT = "particletree experiments, 1"
DIGITS = 7  # significant digits of measured numbers
PASSING = ("date",)  # conditions that may differ between two sessions of one run


class JournalError(ValueError):
    """The results file cannot be used."""


@dataclass(frozen=True)
class Entry:
    """A finished cell: its description, its result, and its times."""

    cell: dict[str, Any]
    result: dict[str, Any]
    seconds: float  # of the cell, including reading and predicting
    elapsed: float  # since the start of the run, without pauses between sessions

    @property
    def key(self) -> str:
        """The cell's identity."""
        return key_of(self.cell)


def key_of(cell: Mapping[str, Any]) -> str:
    """Return a sortable text that identifies a cell.

    Examples
    --------
    >>> key_of({"seed": 1, "data": "iris"})
    '{"data": "iris", "seed": 1}'
    """
    return json.dumps(cell, sort_keys=True)


class Journal:
    """A results file that is open for writing, by one process at a time.

    Parameters
    ----------
    path : Path
        The file; it is created if it does not exist.
    conditions : mapping of str to str
        The common conditions of all results; they must be those of the file.
    machine : mapping of str to str, optional
        Machine and versions; they must be those of the file before a cell is added.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Journal(Path(folder) / "results.jsonl", {"cores": "2"}) as journal:
    ...         journal.append(Entry({"data": "iris"}, {"accuracy": 0.9}, seconds=0.1, elapsed=0.1))
    ...     with Journal(Path(folder) / "results.jsonl", {"cores": "2"}) as journal:
    ...         [entry.result for entry in journal.entries.values()]
    [{'accuracy': 0.9}]
    """

    def __init__(self, path: Path, conditions: Mapping[str, str], machine: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.machine = dict(machine or {})
        self.conditions = {**conditions, **self.machine}  # of the file, once it has been read
        self.entries: dict[str, Entry] = {}
        self._file: BinaryIO | None = None
        self._lock: int | None = None

    def __enter__(self) -> Journal:
        """Open the file, read the entries, and remove an incomplete last line."""
        self._lock = _locked_folder(self.path.parent)
        self._file = self.path.open("a+b")
        try:
            self._read()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._lock is not None:
            os.close(self._lock)

    @property
    def elapsed(self) -> float:
        """Total seconds of all sessions of the run, up to the last cell of each."""
        return max((entry.elapsed for entry in self.entries.values()), default=0.0)

    def append(self, entry: Entry) -> None:
        """Write a finished cell, and return when it is on disk."""
        self.check_machine()
        self._write(_entry_line(entry))
        self.entries[entry.key] = entry

    def check_machine(self) -> None:
        """Refuse to add cells to a file from another machine or other versions."""
        self._check_same(self.machine, self.conditions)

    def put_in_order(self) -> None:
        """Rewrite the file in the order of its keys; a process killed here leaves the old file or the new one."""
        lines = [self._header_line(), *(_entry_line(self.entries[key]) for key in sorted(self.entries))]
        beside = self.path.with_suffix(".new")
        with beside.open("wb") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        if self._file is not None:
            self._file.close()
        beside.replace(self.path)
        self._file = self.path.open("a+b")

    def _read(self) -> None:
        assert self._file is not None
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        header, *lines = whole.splitlines() or [b""]
        if not header:
            self._write(self._header_line())
            return
        self._check_header(self._parse(header, 1))
        for number, line in enumerate(lines, start=2):
            fields = self._parse(line, number)
            try:
                entry = Entry(**fields)
            except TypeError as error:
                raise JournalError(f"{self.path}, line {number}, is not a finished cell: {error}.") from error
            self.entries[entry.key] = entry

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise self._damaged(number, str(error)) from error
        if not isinstance(fields, dict):
            raise self._damaged(number, "it is not a record")
        return fields

    def _damaged(self, number: int, what: str) -> JournalError:
        advice = "Delete the file to begin anew" if number == 1 else "Delete that line, and its cell runs again"
        return JournalError(f"{self.path} is damaged in line {number}: {what}. {advice}.")

    def _check_header(self, header: dict[str, Any]) -> None:
        if header.get("format") != FORMAT:
            raise JournalError(f"{self.path} is not a results file of this version; choose another folder with --out.")
        found = header["conditions"]
        names = {*found, *self.conditions} - {*self.machine}
        self._check_same({n: self.conditions.get(n) for n in names}, found)
        self.conditions = found

    def _check_same(self, now: Mapping[str, str | None], then: Mapping[str, str]) -> None:
        names = sorted({*now} - {*PASSING})
        changed = [f"{n}: {then.get(n)} then, {now[n]} now" for n in names if now[n] != then.get(n)]
        if changed:
            raise JournalError(
                f"{self.path} was begun under other conditions ({'; '.join(changed)}), and figures of the two must "
                "not be mixed. Choose another folder with --out, or delete the file to begin anew."
            )

    def _header_line(self) -> bytes:
        return _line({"format": FORMAT, "conditions": self.conditions})

    def _write(self, line: bytes) -> None:
        assert self._file is not None, "the journal is not open"
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())


def _entry_line(entry: Entry) -> bytes:
    measured = {name: _rounded(value) for name, value in entry.result.items()}
    times = {"seconds": _rounded(entry.seconds), "elapsed": _rounded(entry.elapsed)}
    return _line(vars(entry) | {"result": measured} | times)


def _rounded(value: Any) -> Any:
    """Return a number rounded to the digits that are kept, more than the measurements justify."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _line(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, sort_keys=True).encode() + b"\n"


def _locked_folder(folder: Path) -> int | None:
    """Lock a folder for this process, if the system can; the lock ends with the process, even a killed one.

    The lock is not on the file, which is replaced while it is held. Return the file descriptor to close.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise JournalError(f"Another process is writing to {folder}; wait for it, or choose another folder.") from None
    return handle

"""Results summarised over seeds: one point per data set and method, also as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from papers.harness.grid import distinct_cells
from papers.harness.journal import Entry, key_of
from papers.harness.panels import Line, Look
from papers.harness.spread import Spread
from papers.icml2013.cells import Cell
from papers.icml2013.methods import Chain, Filter, Method


class NotMeasuredError(LookupError):
    """Cells of a figure are missing from the results."""


@dataclass(frozen=True)
class Point:
    """One method on one data set, over all seeds; a chain has one point per reading."""

    data: str
    method: Method
    measures: dict[str, Spread]

    def __getitem__(self, measure: str) -> Spread:
        """Return the spread of one measure."""
        return self.measures[measure]


def summarise(cells: Iterable[Cell], entries: Mapping[str, Entry]) -> list[Point]:
    """Return the points of these cells, in their order.

    Raises
    ------
    NotMeasuredError
        If a cell has no result.
    """
    groups: dict[tuple[str, Method], list[dict[str, Any]]] = {}
    for cell in distinct_cells(list(cells)):  # models share CART
        entry = entries.get(key_of(cell.description))
        if entry is None:
            raise NotMeasuredError(f"There is no result for {key_of(cell.description)}.")
        groups.setdefault((cell.data, cell.method), []).append(entry.result)
    return [point for (data, method), results in groups.items() for point in _points(data, method, results)]


def _points(data: str, method: Method, results: Sequence[dict[str, Any]]) -> Iterator[Point]:
    """Yield the point of a method, or those of a chain: one per reading that all seeds have."""
    if not isinstance(method, Chain):
        yield Point(data, method, {name: Spread.of([r[name] for r in results]) for name in results[0]})
        return
    readings = {name for name, value in results[0].items() if isinstance(value, list)}
    for i in range(len(results[0]["iterations"])):
        yield Point(data, method, {name: Spread.of([r[name][i] for r in results]) for name in sorted(readings)})


class Points:
    """A collection of points with selection methods."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.all = list(points)

    @property
    def data(self) -> list[str]:
        """The data sets, in order."""
        return list(dict.fromkeys(point.data for point in self.all))

    def of(self, data: str, chosen: Callable[[Any], bool]) -> list[Point]:
        """Return the points on a data set whose method satisfies `chosen`, in order."""
        return [point for point in self.all if point.data == data and chosen(point.method)]

    def one(self, data: str, method: Method) -> Point:
        """Return the point of a method that is not a chain."""
        (point,) = self.of(data, lambda m: m == method)
        return point

    def filters(self, data: str, **settings: Any) -> list[Point]:
        """Return the points of the particle filter with these settings, by number of particles."""

        def is_chosen(method: Any) -> bool:
            return isinstance(method, Filter) and all(getattr(method, k) == v for k, v in settings.items())

        return sorted(self.of(data, is_chosen), key=lambda point: _filter_of(point).total)

    def chain(self, data: str, **settings: Any) -> list[Point]:
        """Return the readings of the chain with these settings."""
        return self.of(data, lambda m: isinstance(m, Chain) and all(getattr(m, k) == v for k, v in settings.items()))


def _filter_of(point: Point) -> Filter:
    assert isinstance(point.method, Filter)
    return point.method


def total(point: Point) -> int:
    """Return the total number of particles of a filter's point."""
    return _filter_of(point).total


def line(label: str, look: Look, points: Sequence[Point], x: Callable[[Point], float], measure: str) -> Line:
    """Return points as a line of a panel."""
    spreads = [point[measure] for point in points]
    return Line(label, look, tuple(map(x, points)), tuple(s.mean for s in spreads), tuple(s.sd for s in spreads))


def seconds(point: Point) -> float:
    """Return the mean time of a point."""
    return point["seconds"].mean


def to_csv(points: Sequence[Point]) -> str:
    """Return the points as CSV: data, the method's settings, then mean and standard deviation of each measure."""
    rows = [_row(point) for point in points]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _row(point: Point) -> dict[str, Any]:
    settings = asdict(point.method)
    model = settings.pop("model", {})
    row = {"data": point.data, "method": point.method.kind, **settings, **model}
    for name, spread in point.measures.items():
        row |= {f"{name} mean": _digits(spread.mean), f"{name} sd": _digits(spread.sd), "seeds": spread.n}
    return row


def _digits(value: float) -> str:
    return np.format_float_positional(float(f"{value:.6g}"), trim="-")

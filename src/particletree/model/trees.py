"""The trees of a forest as a lazy sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

from particletree.model.columns import Columns
from particletree.model.forest import Forest
from particletree.model.leaf import LeafModel
from particletree.model.target import Target
from particletree.model.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Trees(Sequence[Tree]):
    """The trees of a forest as a lazy sequence: each :class:`Tree` is made when it is accessed."""

    forest: Forest
    target: Target
    leaf: LeafModel
    feature_names: Sequence[str] | None = None
    columns: Columns | None = None
    indices: range | None = None

    @property
    def _chosen(self) -> range:
        return range(self.forest.n_trees) if self.indices is None else self.indices

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Trees: ...
    def __getitem__(self, index: int | slice) -> Tree | Trees:
        if isinstance(index, slice):
            return replace(self, indices=self._chosen[index])
        return self.forest.tree(self._chosen[index], self.target, self.leaf, self.feature_names, self.columns)

    def __iter__(self) -> Iterator[Tree]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"Trees({len(self)} trees)"

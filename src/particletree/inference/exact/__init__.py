"""Exact inference on small tables: the sum over all trees, by a recursion over blocks."""

from particletree.inference.exact.sampler import Exact

__all__ = ["Exact"]

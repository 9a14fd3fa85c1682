"""Exact inference on small tables: the sum over all trees, by a recursion over blocks."""

from particletree._inference.exact.sampler import Exact

__all__ = ["Exact"]

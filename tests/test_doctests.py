"""Every example in the package's docstrings runs."""

import doctest
import importlib
import pkgutil

import pytest

import particletree

MODULES = [
    m.name for m in pkgutil.walk_packages(particletree.__path__, "particletree.") if not m.name.endswith("__main__")
]


@pytest.mark.parametrize("name", ["particletree", *MODULES])
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    n_examples = sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert n_examples > 20

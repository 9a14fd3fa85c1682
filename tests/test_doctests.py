"""Every example in a docstring runs: in the package, the benchmarks and the papers."""

import doctest
import importlib
import pkgutil

import pytest

import benchmarks
import papers
import particletree

MODULES = [
    module.name
    for package in (particletree, benchmarks, papers)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", ["particletree", *MODULES])
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    n_examples = sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert n_examples > 20

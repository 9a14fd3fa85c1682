"""What `import particletree` offers, although it imports most of it only when it is asked for."""

import subprocess
import sys

import pytest

import particletree


def test_every_public_name_is_there():
    for name in particletree.__all__:
        assert getattr(particletree, name) is not None
    assert set(particletree.__all__) <= set(dir(particletree))


def test_a_name_is_the_one_of_its_module():
    from particletree._inference.smc import SMC

    assert particletree.SMC is SMC
    assert particletree.inference.SMC is SMC
    assert particletree.plots.plot_tree


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'particletree' has no attribute 'Forest'"):
        _ = particletree.Forest
    with pytest.raises(ImportError, match="cannot import name 'Forest'"):
        from particletree import Forest  # noqa: F401


def test_all_names_at_once_in_a_new_process():
    code = "from particletree import *; print(BayesianTreeClassifier(sampler=SMC.paper(n_particles=7)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "n_particles=7" in result.stdout, result.stderr

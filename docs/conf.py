"""Settings of the documentation site: `pip install ".[docs]"`, then `sphinx-build -W -b html docs OUT`.

Examples of the gallery run during the build (sphinx-gallery, from `examples/`); code on other pages runs in
`tests/test_site.py`. Nothing is fetched from a network, and no page asks a reader's browser to fetch anything.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
from numpydoc.xref import DEFAULT_LINKS

from particletree import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
mpl.use("agg")
mpl.rcParams["savefig.bbox"] = "tight"
warnings.filterwarnings("error", category=DeprecationWarning, module="particletree")

project = "particletree"
author = "The particletree developers"
copyright = "the particletree developers"  # noqa: A001
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "essays",
    "live_report",
    "native_math",
    "reference",
    "repository_links",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "**/GALLERY_HEADER.rst"]
suppress_warnings = ["config.cache"]
default_role = "py:obj"
nitpicky = False
smartquotes = False  # they would turn the quotes of `proposal="lookahead"` into curly ones

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

autosummary_generate = True
# Methods of the protocols that leaf models and samplers implement are described once, at their base.
LEAF_PROTOCOL = (
    "resolve, grid, check_observations, kernel_parameters, n_statistics, row_statistics, n_rows, "
    "parameter_distributions, predictive_distributions, draw_observations, variances, deviations, distance, "
    "describe_distance, faults, describe_prediction, describe_rows"
)
LEAVES = ("Categorical", "Gaussian", "GaussianKnownVariance", "Poisson", "Exponential", "Flat")
SAMPLERS = ("SMC", "MCMC", "ParticleGibbs", "Exact")
_LEAVES, _SAMPLERS = ([f"particletree.{name}" for name in names] for names in (LEAVES, SAMPLERS))
autosummary_context = {
    "hidden_members": dict.fromkeys(_LEAVES, LEAF_PROTOCOL)
    | dict.fromkeys(_SAMPLERS, "run, n_runs")
    | {"particletree.TreePrior": "numbers, grid"},
    "protocols": dict.fromkeys(_LEAVES, "particletree.extending.LeafModel")
    | dict.fromkeys(_SAMPLERS, "particletree.inference.Sampler"),
}
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Types of parameters and return values are links, if the reference lists them; those of other packages are text.
DEFAULT_LINKS.clear()
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {
    name.split(".")[-1]: f"{module}.{name}"
    for module, names in re.findall(
        r"currentmodule:: (\S+)\n\n.. autosummary::\n   :toctree: generated/\n((?:\n   \S+)+)",
        (HERE / "api" / "index.md").read_text("utf-8"),
    )
    for name in names.split()
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "image_scrapers": ("matplotlib",),
    "doc_module": ("particletree",),
    "backreferences_dir": None,
    "default_thumb_file": str(HERE / "images" / "uncertainty.png"),
    "plot_gallery": "True",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "particletree"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
}
# Pages that belong to no section have no menu of one.
html_sidebars = {
    name: [] for name in ("start", "how_it_works", "extending", "comparison", "bibliography", "search", "genindex")
}

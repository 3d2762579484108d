"""Data sets: distributions to draw from, MNIST, and your own arrays and files.

To add one: write a module with a frozen `eqx.Module` that has `sample(key, n_samples) -> Dataset` and a `make_…`
(computed) or `load_…` (read from disk) function that returns it; add its line to `DATASETS` in `catalogue.py`, which
makes the function a name of this package; add a small instance to `INSTANCES` in `tests/data/test_conformance.py`.
Everything else (the command line, the battery of tests) follows. Names listed below are known to type checkers too.

Names are loaded on first use, so that listing the data sets does not load JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

from widenet.data.catalogue import DATASETS, Entry

if TYPE_CHECKING:
    from widenet.data.arrays import from_arrays, scale_to_unit_ball, with_bias
    from widenet.data.base import Distribution
    from widenet.data.clusters import FourClusters, make_clusters
    from widenet.data.mixtures import GaussianMixture, make_shoulders, make_xor_mixture
    from widenet.data.mnist import Digits, load_digits, load_mnist, load_mnist35, load_mnist_pair
    from widenet.data.separable import Separable, make_separable
    from widenet.data.tables import load_csv, load_file, load_npz
    from widenet.data.xord import Xord, count_sets, make_xord

_HOME = {
    "arrays": ("from_arrays", "scale_to_unit_ball", "with_bias"),
    "base": ("Distribution",),
    "clusters": ("FourClusters", "make_clusters"),
    "mixtures": ("GaussianMixture", "make_shoulders", "make_xor_mixture"),
    "mnist": ("Digits", "load_digits", "load_mnist", "load_mnist35", "load_mnist_pair"),
    "separable": ("Separable", "make_separable"),
    "tables": ("load_csv", "load_file", "load_npz"),
    "xord": ("Xord", "count_sets", "make_xord"),
}
_MODULE_OF = {name: f"widenet.data.{module}" for module, names in _HOME.items() for name in names} | {
    # `widenet list data` prints widenet.data.NAME for each of these, so that path must work.
    name: f"widenet.data.{module}"
    for module, name in (entry.maker.split(".") for entry in DATASETS.values())
}

__all__ = [
    "DATASETS",
    "Digits",
    "Distribution",
    "Entry",
    "FourClusters",
    "GaussianMixture",
    "Separable",
    "Xord",
    "count_sets",
    "from_arrays",
    "load_csv",
    "load_digits",
    "load_file",
    "load_mnist",
    "load_mnist35",
    "load_mnist_pair",
    "load_npz",
    "make_clusters",
    "make_separable",
    "make_shoulders",
    "make_xor_mixture",
    "make_xord",
    "scale_to_unit_ball",
    "with_bias",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'widenet.data' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__

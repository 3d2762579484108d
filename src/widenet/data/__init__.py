"""Data sets: distributions to draw from, MNIST, and a reader's own arrays and files.

To add one: write a module with a frozen `eqx.Module` that has `sample(key, n_samples) -> Dataset` and a `make_…`
(computed) or `load_…` (read from disk) function that returns it; add its line to `DATASETS` below; add a small instance
to `INSTANCES` in `tests/data/test_conformance.py`. Everything else (the command line, the battery of tests) follows.
"""

from widenet.data.arrays import from_arrays, make_pool, scale_to_unit_ball, with_bias
from widenet.data.base import Distribution, Entry, Pool
from widenet.data.basis import Basis, make_basis
from widenet.data.mnist import Digits, load_digits, load_mnist, load_mnist35, load_mnist_pair
from widenet.data.separable import Separable, make_separable
from widenet.data.tables import load_csv, load_file, load_npz
from widenet.data.xord import Xord, count_sets, make_xor, make_xord, recovers

DATASETS: dict[str, Entry] = {
    "separable": Entry("points of the unit ball with a known separator through the origin", make_separable),
    "basis": Entry("the orthonormal basis, all labelled +1 (lower bounds of brutzkus2018)", make_basis),
    "xord": Entry("XOR detection: d patches of ±1 pairs, +1 where a pair agrees (brutzkus2019)", make_xord),
    "mnist": Entry("MNIST images of two digits, 3 against 5 unless told otherwise", load_digits),
    "arrays": Entry("your own inputs and labels, scaled into the unit ball", make_pool),
}

__all__ = [
    "DATASETS",
    "Basis",
    "Digits",
    "Distribution",
    "Entry",
    "Pool",
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
    "make_basis",
    "make_pool",
    "make_separable",
    "make_xor",
    "make_xord",
    "recovers",
    "scale_to_unit_ball",
    "with_bias",
]

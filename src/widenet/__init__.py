"""widenet: a laboratory for the theory of wide shallow networks.

    import widenet as wn

    claim = wn.find_claim("brutzkus2018.theorem_2")
    evidence = claim.check(claim.setting(wn.Scale.QUICK, 0), wn.silent)
    print(evidence.verdict, evidence.tightness)

Names are loaded on first use: `import widenet` costs nothing, and the first name that needs JAX pays for it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widenet.claims import CLAIMS, Claim, Evidence, Hypothesis, Kind, Verdict
    from widenet.data import DATASETS, from_arrays, load_csv, load_mnist_pair, make_separable, scale_to_unit_ball
    from widenet.diagnostics import find_separator, margins
    from widenet.errors import WidenetError
    from widenet.losses import hinge, logistic, zero_one
    from widenet.networks import TwoLayer, leaky_relu, make_two_layer, relu
    from widenet.papers import FIGURES, PAPERS, Comparison, Figure
    from widenet.run import find_claim, find_figure
    from widenet.store import Store
    from widenet.training import Recipe, Record, ensemble, train
    from widenet.types import Dataset, RunStatus, Scale, Trajectory, silent

_HOME = {
    "claims": ("CLAIMS", "Claim", "Evidence", "Hypothesis", "Kind", "Verdict"),
    "data": ("DATASETS", "from_arrays", "load_csv", "load_mnist_pair", "make_separable", "scale_to_unit_ball"),
    "diagnostics": ("find_separator", "margins"),
    "errors": ("WidenetError",),
    "losses": ("hinge", "logistic", "zero_one"),
    "networks": ("TwoLayer", "leaky_relu", "make_two_layer", "relu"),
    "papers": ("FIGURES", "PAPERS", "Comparison", "Figure"),
    "run": ("find_claim", "find_figure"),
    "store": ("Store",),
    "training": ("Recipe", "Record", "ensemble", "train"),
    "types": ("Dataset", "RunStatus", "Scale", "Trajectory", "silent"),
}
_MODULE_OF = {name: f"widenet.{module}" for module, names in _HOME.items() for name in names}

__all__ = [
    "CLAIMS",
    "DATASETS",
    "FIGURES",
    "PAPERS",
    "Claim",
    "Comparison",
    "Dataset",
    "Evidence",
    "Figure",
    "Hypothesis",
    "Kind",
    "Recipe",
    "Record",
    "RunStatus",
    "Scale",
    "Store",
    "Trajectory",
    "TwoLayer",
    "Verdict",
    "WidenetError",
    "ensemble",
    "find_claim",
    "find_figure",
    "find_separator",
    "from_arrays",
    "hinge",
    "leaky_relu",
    "load_csv",
    "load_mnist_pair",
    "logistic",
    "make_separable",
    "make_two_layer",
    "margins",
    "relu",
    "scale_to_unit_ball",
    "silent",
    "train",
    "zero_one",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'widenet' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__

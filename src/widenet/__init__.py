"""widenet: a laboratory for the theory of wide shallow networks.

    import widenet as wn

    evidence = wn.check("brutzkus2018.theorem_2")
    print(evidence.verdict, evidence.tightness)
    evidence.part("updates").cases                 # both sides in every run, as a DataFrame

    wn.figure("brutzkus2018.figure_1").draw()      # numbers, comparisons with the paper, picture
    wn.check_on("leaves.csv").to_frame()           # what every theorem says about your data
    wn.sweep("brutzkus2018.theorem_2", "leaves.csv", n_neurons=[4, 64])     # over choices, as an xarray.Dataset
    print(wn.certify("leaves.csv"))                # the same in words, and what training does

Names are loaded on first use: `import widenet` costs nothing, and the first name that needs JAX pays for it.
"""

import importlib
from typing import TYPE_CHECKING, Any

from widenet import old_names

if TYPE_CHECKING:
    from widenet.certificates import Certificate, certify
    from widenet.claims import Claim, Evidence, Experiment, Hypothesis, Kind, NotApplicable, Part, Verdict
    from widenet.claims.user_data import Choices, Order, UserData
    from widenet.data import DATASETS, from_arrays, load_csv, load_mnist_pair, make_separable, scale_to_unit_ball
    from widenet.diagnostics import find_separator, margins
    from widenet.errors import WidenetError
    from widenet.estimators import WideClassifier
    from widenet.figures import Comparison, Figure
    from widenet.losses import hinge, logistic, zero_one
    from widenet.networks import TwoLayer, huberized_relu, leaky_relu, make_two_layer, relu
    from widenet.papers import PAPERS, claim_ids, figure_ids, find_claim, find_figure
    from widenet.progress import silent
    from widenet.records import Scale
    from widenet.run import Answers, check, check_on, figure
    from widenet.store import Store
    from widenet.sweeps import load, sweep
    from widenet.training import (
        SGD,
        Adam,
        Flow,
        GradientDescent,
        Method,
        Optax,
        Recipe,
        Record,
        StepRule,
        ensemble,
        ensembles,
        loss_below,
        train,
    )
    from widenet.types import Dataset, RunStatus, Trajectory

_HOME = {
    "certificates": ("Certificate", "certify"),
    "claims": ("Claim", "Evidence", "Experiment", "Hypothesis", "Kind", "Part", "NotApplicable", "Verdict"),
    "claims.user_data": ("Choices", "Order", "UserData"),
    "data": ("DATASETS", "from_arrays", "load_csv", "load_mnist_pair", "make_separable", "scale_to_unit_ball"),
    "diagnostics": ("find_separator", "margins"),
    "errors": ("WidenetError",),
    "estimators": ("WideClassifier",),
    "figures": ("Comparison", "Figure"),
    "losses": ("hinge", "logistic", "zero_one"),
    "networks": ("TwoLayer", "huberized_relu", "leaky_relu", "make_two_layer", "relu"),
    "papers": ("PAPERS", "claim_ids", "figure_ids", "find_claim", "find_figure"),
    "progress": ("silent",),
    "records": ("Scale",),
    "run": ("Answers", "check", "check_on", "figure"),
    "store": ("Store",),
    "sweeps": ("load", "sweep"),
    "training": (
        "SGD",
        "Adam",
        "Flow",
        "GradientDescent",
        "Method",
        "Optax",
        "Recipe",
        "Record",
        "StepRule",
        "ensemble",
        "ensembles",
        "loss_below",
        "train",
    ),
    "types": ("Dataset", "RunStatus", "Trajectory"),
}
_MODULE_OF = {name: f"widenet.{module}" for module, names in _HOME.items() for name in names}

__all__ = [
    "DATASETS",
    "PAPERS",
    "SGD",
    "Adam",
    "Answers",
    "Certificate",
    "Choices",
    "Claim",
    "Comparison",
    "Dataset",
    "Evidence",
    "Experiment",
    "Figure",
    "Flow",
    "GradientDescent",
    "Hypothesis",
    "Kind",
    "Method",
    "NotApplicable",
    "Optax",
    "Order",
    "Part",
    "Recipe",
    "Record",
    "RunStatus",
    "Scale",
    "StepRule",
    "Store",
    "Trajectory",
    "TwoLayer",
    "UserData",
    "Verdict",
    "WideClassifier",
    "WidenetError",
    "__version__",
    "certify",
    "check",
    "check_on",
    "claim_ids",
    "ensemble",
    "ensembles",
    "figure",
    "figure_ids",
    "find_claim",
    "find_figure",
    "find_separator",
    "from_arrays",
    "hinge",
    "huberized_relu",
    "leaky_relu",
    "load",
    "load_csv",
    "load_mnist_pair",
    "logistic",
    "loss_below",
    "make_separable",
    "make_two_layer",
    "margins",
    "relu",
    "scale_to_unit_ball",
    "silent",
    "sweep",
    "train",
    "zero_one",
]

old_names.install()


def __getattr__(name: str) -> Any:
    if (words := old_names.sentence_of(f"widenet.{name}")) is not None:
        raise AttributeError(words)
    if name == "__version__":
        from widenet.run.outcomes import version

        return version()
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'widenet' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__

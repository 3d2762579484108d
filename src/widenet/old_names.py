"""Names that 0.1 had, for one release: importing one raises a sentence that says what it is now.

Python looks for a submodule of a name that a package lacks, so one finder answers `from widenet import Specimen` as it
answers `import widenet.claims.specimen`. It is asked only where nothing else has been found.
"""

import sys
from importlib.abc import MetaPathFinder
from typing import Any

UNUSED = "gone, because nothing used it"
POINTS = "gone; make the points with NumPy, and a data set of them with widenet.from_arrays"
TIMES = "gone; the times of a widenet.Record are any increasing whole numbers"
NOW = {
    "widenet.Specimen": "widenet.UserData now",
    "widenet.Silence": "widenet.NotApplicable now",
    "widenet.check_over": "widenet.sweep now",
    "widenet.bench": "benchmarks/ in a clone now, beside the package: 'widenet bench' runs it there",
    "widenet.claims.Silence": "widenet.claims.NotApplicable now",
    "widenet.claims.specimen": "widenet.claims.user_data now, and Specimen there is UserData",
    "widenet.run.Watch": "widenet.run.WorkWatch now",
    "widenet.data.Basis": POINTS,
    "widenet.data.CapMixture": POINTS,
    "widenet.data.Pool": POINTS,
    "widenet.data.TwoGaussians": POINTS,
    "widenet.data.make_basis": POINTS,
    "widenet.data.make_caps": POINTS,
    "widenet.data.make_gaussians": POINTS,
    "widenet.data.make_pool": POINTS,
    "widenet.data.make_xor": POINTS,
    "widenet.data.recovers": UNUSED,
    "widenet.data.basis": POINTS,
    "widenet.data.caps": POINTS,
    "widenet.training.Closest": UNUSED,
    "widenet.training.Continued": UNUSED,
    "widenet.training.Found": UNUSED,
    "widenet.training.LogClock": "gone; widenet.training.LinearClock and LossClock are the clocks of a flow",
    "widenet.training.Move": UNUSED,
    "widenet.training.Potentials": UNUSED,
    "widenet.training.WithReplacement": "gone; widenet.training.Listed takes an order that you draw",
    "widenet.training.every": TIMES,
    "widenet.training.gradient_descent": "widenet.Recipe(loss, widenet.GradientDescent()) now",
    "widenet.training.log_spaced": TIMES,
    "widenet.training.closest": UNUSED,
    "widenet.training.potentials": UNUSED,
    "widenet.training.methods.adam": "widenet.Adam now, in widenet.training.methods.optimizers",
}
"""What became of a name, read after "is"."""


def sentence_of(name: str) -> str | None:
    """What became of a name; None where there never was one."""
    return f"{name} is {NOW[name]}." if name in NOW else None


class OldNames(MetaPathFinder):
    """Finds no module, and raises a sentence where one would be an old name."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        """Nothing.

        Raises:
          ImportError: it is an old name.
        """
        if (words := sentence_of(fullname)) is not None:
            raise ImportError(words, name=fullname)


def install() -> None:
    """Have the finder asked after all others."""
    if not any(isinstance(each, OldNames) for each in sys.meta_path):
        sys.meta_path.append(OldNames())

"""What stands in the plane where a statement of brutzkus2018 fails: points, and neurons before and after SGD."""

from fractions import Fraction

import numpy as np

from widenet.claims.instance import Instance, in_plane, instance
from widenet.papers.brutzkus2018.runs.bad_minima import MinimaSetting, SetRecipe, sets_of
from widenet.papers.brutzkus2018.runs.biased_relu import BiasedStarts
from widenet.papers.brutzkus2018.runs.exact_sgd import ExactEnd, relu_on_basis
from widenet.papers.brutzkus2018.runs.update_counts import UpdateCounts, exact_starts


@in_plane.register
def of_minima(found: MinimaSetting, run: int) -> Instance | None:
    """The pair, with its labels."""
    if found.recipe is not SetRecipe.PAIR:
        return None
    points = sets_of(found)[run]
    return instance("The set", points=points.inputs, classes=points.labels < 0)


@in_plane.register
def of_biased(found: BiasedStarts, run: int) -> Instance | None:
    """A run with biases, which are the third coordinate and are left out."""
    return _trained(found.starts[run][:, :-1], found.ends[run], "without their biases")


@in_plane.register
def of_updates(found: UpdateCounts, run: int) -> Instance | None:
    """A run on e_1 and e_2, made again from its setting in fractions."""
    setting = found.setting
    if setting.dim != 2 or not setting.exact:
        return None
    start = exact_starts(setting.seed, (setting.n_runs, 2, 2 * setting.half_width), Fraction(setting.entry_bound))[
        run
    ].T
    end = relu_on_basis(2, setting.half_width).train(start, Fraction(setting.step_size))
    return _trained(start, end, f"{int(end.updates.sum())} updates")


def _trained(start: np.ndarray, end: ExactEnd, words: str) -> Instance | None:
    width = start.shape[1]
    return instance(
        f"The points, and the neurons before and after SGD, {words}",
        points=end.problem.inputs[:, :width].astype(float),
        classes=np.asarray(end.problem.labels) < 0,
        weights=end.weights[:, :width].astype(float),
        signs=end.problem.votes.astype(float),
        starts=start.astype(float),
    )

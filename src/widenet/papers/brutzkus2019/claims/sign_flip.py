"""Lemma F.2: on diverse data, negating one u filter at the start negates it for ever and changes nothing else."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least
from widenet.claims.legacy import Evidence_, decide
from widenet.papers.brutzkus2019.claims.narrow import budget
from widenet.papers.brutzkus2019.claims.start import draw_filters
from widenet.papers.brutzkus2019.formulas import SMALL_NET_STEP, largest_deviation
from widenet.papers.brutzkus2019.runs.trained import Trained, train_from
from widenet.papers.brutzkus2019.runs.training_set import PAIR, TrainingSet
from widenet.types import Progress, Scale, silent


@dataclass(frozen=True, eq=False)
class Twins:
    """Starts, and what they are trained on; each is compared with its twin after every number of steps.

    Attributes:
      filters: the starts; u^(1) is the first filter of the second half.
      step_size, required_margin, points: as in training.
      max_steps: twins are compared after 0, 1, …, max_steps steps, or until all have stopped.
    """

    filters: Float[np.ndarray, "run filter 2"]
    step_size: float
    required_margin: float
    max_steps: int
    points: TrainingSet = PAIR


def flip(filters: Float[np.ndarray, "run filter 2"]) -> Float[np.ndarray, "run filter 2"]:
    """The same filters with u^(1) negated."""
    flipped = filters.copy()
    flipped[:, filters.shape[1] // 2] *= -1
    return flipped


def check_lemma_f_2(twins: Twins, progress: Progress = silent) -> Evidence:
    """Bit for bit, after every step. A control has a negative point that is not diverse."""
    both = np.concatenate([twins.filters, flip(twins.filters)])
    n_runs, steps, differ = len(twins.filters), 0, np.zeros(len(twins.filters), bool)
    conditions = (
        *twins.points.hypotheses(),
        at_least("filters_of_each_sign", "filters of each sign", both.shape[1] // 2, 1),
    )
    compared = 0
    while steps < twins.max_steps and n_runs:
        steps += 1
        run = train_from(both, twins.step_size, twins.required_margin, points=twins.points, max_steps=steps)
        differ |= _differ(run, n_runs)
        compared += n_runs
        progress(steps / twins.max_steps, "steps")
        if not run.unfinished.any():
            break
    conclusion = not differ.any() if compared else None
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=n_runs),
        conclusion=conclusion,
        quantity="pairs of runs that differ by more than the sign of u^(1), after any number of steps",
        promised=0.0,
        measured=float(differ.sum()),
        config={"steps": steps, "half_width": both.shape[1] // 2, "comparisons": compared},
        note="Compared bit for bit, on a grid on which sums do not round.",
    )


def _differ(run: Trained, n_runs: int) -> np.ndarray:
    ours, theirs = run.final[:n_runs], flip(run.final[n_runs:])
    same = (ours == theirs).all(axis=(1, 2)) & (run.steps[:n_runs] == run.steps[n_runs:])
    return ~(same & (run.status[:n_runs] == run.status[n_runs:]))


def make_twins(
    seed: int, n_runs: int, half_width: int = 2, required_margin: float = 2.0, points: TrainingSet = PAIR
) -> Twins:
    """Random starts in the regime of Theorem F.1."""
    filters = draw_filters(seed, n_runs, half_width, largest_deviation(SMALL_NET_STEP, half_width))
    steps = budget(SMALL_NET_STEP, required_margin)
    return Twins(filters, SMALL_NET_STEP / half_width, required_margin, steps, points)


def _setting(scale: Scale, seed: int) -> Twins:
    return (
        make_twins(seed, 50, required_margin=1.0)
        if scale is Scale.QUICK
        else make_twins(seed, 500, required_margin=8.0)
    )


lemma_f_2 = Claim(
    id="brutzkus2019.lemma_f_2",
    kind=Kind.STEP,
    statement=(
        "On diverse data two runs of gradient descent whose starts differ in the sign of u^(1) alone differ in the "
        "sign of u^(1) alone at every t."
    ),
    where="Lemma F.2, Appendix F",
    judge=check_lemma_f_2,
    draws=_setting,
)

CLAIMS = (lemma_f_2,)

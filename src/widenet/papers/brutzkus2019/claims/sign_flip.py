"""Lemma F.2: on diverse data, negating one u filter at the start negates it for ever and changes nothing else."""

from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, Runs, Silence, at_least, claim
from widenet.claims.sides import Fact, evidence
from widenet.claims.specimen import Specimen
from widenet.papers.brutzkus2019.claims.diverse_data import data_hypotheses, fixed_by_regime, points_of, up_to
from widenet.papers.brutzkus2019.formulas import SMALL_NET_STEP
from widenet.papers.brutzkus2019.runs.twins import Twins, TwinSetting, twin_setting, twins

MOST_PAIRS = 20
"""On a reader's data: an identity, and more pairs show no more."""


@claim("brutzkus2019.lemma_f_2", Kind.STEP, "Lemma F.2, Appendix F", reads=twins)
def lemma_f_2(runs: Sequence[Twins]) -> Evidence:
    """On diverse data two runs of gradient descent whose starts differ in the sign of u^(1) alone differ in the
    sign of u^(1) alone at every t.

    Bit for bit, after every step. A control has a negative point that is not diverse.
    """
    (pairs,) = runs
    ours, theirs = pairs.paths
    first = np.arange(2 * pairs.half_width) == pairs.half_width
    return evidence(
        {
            "u^(1) is negated at every t": Fact((ours[:, :, first] == -theirs[:, :, first]).all(axis=(0, 2, 3))),
            "all other filters are the same at every t": Fact(
                (ours[:, :, ~first] == theirs[:, :, ~first]).all(axis=(0, 2, 3))
            ),
            "both stop after the same number of steps": Fact(
                pairs.steps[0] == pairs.steps[1], undecided=pairs.unfinished
            ),
            "both stop in the same way": Fact(pairs.status[0] == pairs.status[1], undecided=pairs.unfinished),
        },
        [
            *data_hypotheses(pairs.points),
            at_least("width", "filters of each sign", pairs.half_width, 1),
        ],
        runs=Runs(tried=pairs.n_pairs, unfinished=int(pairs.unfinished.sum())),
        details={
            "steps": len(ours) - 1,
            "half_width": pairs.half_width,
            "comparisons": (len(ours) - 1) * pairs.n_pairs,
        },
        note="Compared bit for bit, on a grid on which sums do not round.",
    )


@lemma_f_2.speaks
def twins_on(specimen: Specimen) -> list[TwinSetting] | Silence:
    """Twenty pairs on a reader's points, or fewer if so chosen, at γ = 1."""
    points = points_of(specimen)
    if isinstance(points, Silence):
        return points
    n_pairs = min(specimen.choices.n_runs or MOST_PAIRS, MOST_PAIRS)
    setting = twin_setting(specimen.choices.seed, n_pairs, 1.0, points)
    return [setting.model_copy(update={"max_steps": up_to(specimen, setting.max_steps)})]


@lemma_f_2.fixes
def fixed_for_twins(specimen: Specimen) -> dict[str, str]:
    """Networks with k = 2 at γ = 1, and a few pairs of them."""
    fixed = fixed_by_regime(specimen, 2, SMALL_NET_STEP)
    if specimen.choices.required_margin != 1:
        fixed["required_margin"] = "γ = 1 is used"
    if (specimen.choices.n_runs or 0) > MOST_PAIRS:
        fixed["n_runs"] = f"{MOST_PAIRS} pairs are compared"
    return fixed

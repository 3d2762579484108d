"""Lemma F.2: on diverse data, negating one u filter at the start negates it for ever and changes nothing else."""

from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Kind, Runs, Silence, at_least, claim
from widenet.claims.sides import Fact, evidence
from widenet.claims.specimen import Specimen
from widenet.papers.brutzkus2019.claims.diverse_data import data_hypotheses, points_of
from widenet.papers.brutzkus2019.runs.twins import Twins, TwinSetting, twin_setting, twins


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
    """Twenty pairs on a reader's points, at γ = 1."""
    points = points_of(specimen)
    return points if isinstance(points, Silence) else [twin_setting(specimen.choices.seed, 20, 1.0, points)]

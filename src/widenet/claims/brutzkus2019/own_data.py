"""Section 6 on a reader's own XORD training set: which of its statements speak about these points, and what they say.

Statements about wide networks train at the corner of Theorem 6.3 (k = 120, c_η = 1/410, γ = 8), those about narrow ones
with k = 2, c_η = 1/41. Points that are not XORD's are left out and counted; where points are not diverse the hypotheses
fail, the conclusions are measured all the same, and `diverse_only` asks about the diverse points alone.
"""

from typing import Any

from widenet.claims.base import Claim, Evidence
from widenet.claims.brutzkus2019.constants import SMALLEST_MARGIN
from widenet.claims.brutzkus2019.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.claims.brutzkus2019.narrow import (
    observation_small_convergence,
    observation_small_failure,
    small_networks_on,
    theorem_6_4,
)
from widenet.claims.brutzkus2019.sign_flip import lemma_f_2, make_twins
from widenet.claims.brutzkus2019.training_set import TrainingSet, from_data
from widenet.claims.brutzkus2019.wide import (
    lemma_e_17,
    proposition_e_14,
    theorem_6_3,
    theorem_6_3_angle,
    theorem_6_3_on,
)
from widenet.types import Dataset, Progress, silent


def settings_on(
    data: Dataset, *, n_runs: int = 600, required_margin: float = SMALLEST_MARGIN, seed: int = 0, diverse_only=False
) -> list[tuple[Claim, Any]]:
    """Every claim of Section 6 that can take a training set, with its setting on this one.

    Main arguments:
      data: points made of pairs, with labels.
      n_runs: networks of each width; 557 are the fewest that can confirm Theorem 6.3.

    Other arguments:
      required_margin: γ.
      seed: of the initial filters.
      diverse_only: train on the diverse points alone, as many of each class.
    """
    points = from_data(data)
    points = points.diverse_part() if diverse_only else points
    wide = theorem_6_3_on(points, n_runs, required_margin, seed)
    narrow = small_networks_on(points, n_runs, required_margin, seed)
    return [
        (theorem_6_3, wide),
        (theorem_6_3_angle, wide),
        (theorem_6_4, narrow),
        *((claim, [wide]) for claim in (proposition_e_14, lemma_e_17, equation_18, proposition_e_18, proposition_e_22)),
        (observation_small_convergence, narrow),
        (observation_small_failure, narrow),
        (lemma_f_2, make_twins(seed, 20, required_margin=1.0, points=points)),
    ]


def check_on(data: Dataset, progress: Progress = silent, **choices: Any) -> dict[str, Evidence]:
    """The evidence of every claim that can speak about this data, by claim id; `choices` are those of `settings_on`."""
    settings, found = settings_on(data, **choices), {}
    advice = _advice(from_data(data)) if not choices.get("diverse_only") else ""
    for index, (claim, setting) in enumerate(settings):
        progress(index / len(settings), claim.id)
        evidence = claim.check(setting, silent)
        found[claim.id] = evidence.model_copy(update={"note": f"{evidence.note} {advice}".strip()})
    progress(1.0, "done")
    return found


def _advice(points: TrainingSet) -> str:
    part = points.diverse_part().per_class[0]
    if not points.non_diverse or not part:
        return ""
    return f"{points.non_diverse} points are not diverse; diverse_only=True takes {part} diverse points of each class."

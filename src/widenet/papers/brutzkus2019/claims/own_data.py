"""Section 6 on a reader's own XORD training set: which of its statements speak about these points, and what they say.

Statements about wide networks train at the corner of Theorem 6.3 (k = 120, c_η = 1/410, γ = 8), those about narrow ones
with k = 2, c_η = 1/41. Points that are not XORD's are left out and counted; where points are not diverse the hypotheses
fail, the conclusions are measured all the same, and `diverse_only` asks about the diverse points alone: what it leaves
out, and why, is in the note of every claim.
"""

from typing import Any

from widenet.claims.base import Claim, Evidence
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE
from widenet.errors import DataError
from widenet.papers.brutzkus2019.claims.generalization import equation_18, proposition_e_18, proposition_e_22
from widenet.papers.brutzkus2019.claims.narrow import (
    observation_small_convergence,
    observation_small_failure,
    small_networks_on,
    theorem_6_4,
)
from widenet.papers.brutzkus2019.claims.sign_flip import lemma_f_2, make_twins
from widenet.papers.brutzkus2019.claims.wide import (
    lemma_e_17,
    proposition_e_14,
    theorem_6_3,
    theorem_6_3_angle,
    theorem_6_3_on,
)
from widenet.papers.brutzkus2019.formulas import SMALLEST_MARGIN
from widenet.papers.brutzkus2019.runs.training_set import TrainingSet, from_data
from widenet.types import Dataset, Progress, silent


def settings_on(
    data: Dataset, *, n_runs: int = 600, required_margin: float = SMALLEST_MARGIN, seed: int = 0, diverse_only=False
) -> list[tuple[Claim, Any]]:
    """Every claim of Section 6 that can take a training set, with its setting on this one.

    Main arguments:
      data: points made of pairs, with labels.
      n_runs: networks of each width. The fewest that can confirm Theorem 6.3 are 557, Propositions E.18 and E.22 1115,
        Proposition E.14 2232; so many take about twice the time of the default.

    Other arguments:
      required_margin: γ.
      seed: of the initial filters.
      diverse_only: train on the diverse points alone, as many of each class.

    Raises:
      DataError: there is no point of one of the classes, or no diverse one where these are asked for.
    """
    points = _diverse_part(from_data(data)) if diverse_only else from_data(data)
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
    points = from_data(data)
    remark = _left_out(points) if choices.get("diverse_only") else _advice(points)
    for index, (claim, setting) in enumerate(settings):
        progress(index / len(settings), claim.id)
        evidence = claim.check(setting, silent)
        found[claim.id] = evidence.model_copy(update={"note": f"{evidence.note} {remark}".strip()})
    progress(1.0, "done")
    return found


def _diverse_part(points: TrainingSet) -> TrainingSet:
    part = points.diverse_part()
    if not part.per_class[0]:
        positive, negative = points.counts[DIVERSE_POSITIVE], points.counts[DIVERSE_NEGATIVE]
        raise DataError(
            f"diverse_only=True needs a diverse point of each class, got {positive} of +1 and {negative} of -1; "
            f"left out: {_reasons(points)}."
        )
    return part


def _left_out(points: TrainingSet) -> str:
    """What `diverse_only` does not train on, in one sentence."""
    kept = 2 * points.diverse_part().per_class[0]
    total = sum(points.counts) + points.not_signs + points.mislabelled
    if kept == total:
        return "All points are diverse, and diverse_only=True left out none."
    return f"diverse_only=True left out {total - kept} of {total} points: {_reasons(points)}."


def _reasons(points: TrainingSet) -> str:
    surplus = abs(points.counts[DIVERSE_POSITIVE] - points.counts[DIVERSE_NEGATIVE])
    reasons = {
        "not diverse": points.non_diverse,
        "with a label that is not f*(x), which is +1 where (1, 1) or (-1, -1) occurs": points.mislabelled,
        "with an entry that is not ±1": points.not_signs,
        "diverse but without a partner in the other class": surplus,
    }
    return ", ".join(f"{count} {reason}" for reason, count in reasons.items() if count) or "none"


def _advice(points: TrainingSet) -> str:
    part = points.diverse_part().per_class[0]
    if not points.non_diverse or not part:
        return ""
    return f"{points.non_diverse} points are not diverse; diverse_only=True takes {part} diverse points of each class."

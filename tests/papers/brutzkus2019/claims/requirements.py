"""What a claim asks for, in the words that a reader sees, and several settings of which one is outside."""

from collections.abc import Callable

from widenet.claims.base import Claim, Evidence
from widenet.papers.brutzkus2019.runs.trained import Trained

OF_POINTS = {"signs": "≤ 0", "labels": "≤ 0", "diverse": "≤ 0", "both_classes": "≥ 1", "balanced": "≤ 0"}


def required(evidence: Evidence) -> dict[str, str]:
    """Key → limit, without those on the training set and on σ_g."""
    left_out = {*OF_POINTS, "deviation"}
    return {each.key: each.required for each in evidence.hypotheses if each.key not in left_out}


def unmet(evidence: Evidence) -> set[str]:
    """The keys of the hypotheses that are not met."""
    return {each.key for each in evidence.hypotheses if each.met is False}


def is_seen_beside_another(claim: Claim, inside: Trained, outside: Callable[[], Trained], key: str) -> bool:
    """Whether one setting outside is noticed before and after one inside."""
    return all(key in unmet(claim(pair)) for pair in ([inside, outside()], [outside(), inside]))

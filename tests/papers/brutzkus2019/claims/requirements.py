"""What a claim asks for, in the words that a reader sees."""

from widenet.claims.base import Claim

OF_POINTS = {"signs": "≤ 0", "labels": "≤ 0", "diverse": "≤ 0", "both_classes": "≥ 1", "balanced": "≤ 0"}


def required(claim: Claim) -> dict[str, str]:
    """Key → limit, without those on the training set and on σ_g."""
    left_out = {*OF_POINTS, "deviation"}
    given = [each for each in claim.clauses.values() if each.role == "given"]
    return {each.key: str(each) for each in given if each.key not in left_out}

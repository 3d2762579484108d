"""How the parts of a conclusion are told: which one carries the statement, and what was left open or says nothing."""

from widenet.claims.base import Evidence, Part
from widenet.console.wording import number

TOO_SMALL = 1e-9
"""A change of which less than this is promised, and less than this was measured, cannot be seen."""


def left_open(part: Part) -> str:
    """What was seen of a part that could not be decided: how many tries, and the one that is farthest off."""
    tries = ""
    if part.undecided and part.n_cases > 1:
        every = "both" if part.n_cases == 2 else f"all {part.n_cases:,}"
        tries = every if part.undecided == part.n_cases else f"{part.undecided:,} of {part.n_cases:,}"
    if part.is_missed:
        # Only the farthest case is kept, so the others may lie on either side.
        where = f"{tries} tries settle nothing, and the farthest off has" if tries else "it was missed here, with"
        return f"{where} {number(part.measured)} instead of {number(part.promised)}; that does not refute it"
    return f"{tries} tries were stopped too early to tell" if tries else "what was tried is not enough to tell"


def carrying(evidence: Evidence) -> Part:
    """The part whose numbers a statement is known for: the first with two sides, else the first."""
    return next((part for part in evidence.parts if part.promised is not None), evidence.parts[0])


def says_nothing(evidence: Evidence) -> bool:
    """Whether the part that carries the statement promises no more than what is true anyway."""
    return evidence.vacuous or carrying(evidence).vacuous


def is_too_small(evidence: Evidence) -> bool:
    """Whether so little growth is promised, and was measured, that nobody would see it."""
    part = carrying(evidence)
    if part.measured is None or part.promised is None or part.sense not in ("≥", ">"):
        return False
    return 0 < part.promised < TOO_SMALL and 0 < part.measured < TOO_SMALL

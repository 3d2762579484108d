"""The five answers that a check can give, and the roles of statements."""

import enum


class Verdict(enum.StrEnum):
    """The five answers a check can give."""

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    HYPOTHESES_NOT_MET = "HYPOTHESES_NOT_MET"
    INSUFFICIENT_EVIDENCE = "INSUFFICIENT_EVIDENCE"
    CONSTANT_UNSPECIFIED = "CONSTANT_UNSPECIFIED"

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return {
            Verdict.HOLDS: "The hypotheses are met and the conclusion was measured to hold.",
            Verdict.VIOLATED: "The hypotheses are met and the conclusion was measured to fail.",
            Verdict.HYPOTHESES_NOT_MET: "At least one hypothesis fails here, so the statement promises nothing.",
            Verdict.INSUFFICIENT_EVIDENCE: "Too few runs, runs cut short, or a hypothesis left undecided.",
            Verdict.CONSTANT_UNSPECIFIED: "The paper leaves a constant open, so there is no number to test.",
        }[self]


class Kind(enum.StrEnum):
    """What role a statement plays in its paper. Surfaces list them in this order."""

    MAIN = "main result"
    TREND = "trend"
    CONSTRUCTION = "construction"
    IDENTITY = "identity"
    STEP = "proof step"

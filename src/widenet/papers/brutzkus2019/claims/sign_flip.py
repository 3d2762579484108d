"""Lemma F.2: on diverse data, negating one u filter at the start negates it for ever and changes nothing else."""

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column, derived
from widenet.claims.implication import Promise
from widenet.claims.sides import Fact
from widenet.papers.brutzkus2019.hypotheses import DIVERSE_POINTS, OnPoints, some_filters
from widenet.papers.brutzkus2019.runs.sign_flips import SignFlips, sign_flips

Pairs = Bool[np.ndarray, " pair"]


class ComparedTwins(OnPoints, SignFlips):
    """Twins, compared bit for bit."""

    @column
    def negated(self) -> Pairs:
        """Whether u^(1) of one is minus that of the other at every t."""
        ours, theirs = self.paths[:, :, :, self.half_width]
        return (ours == -theirs).all(axis=(0, 2))

    @column
    def same_others(self) -> Pairs:
        """Whether all other filters are the same at every t."""
        ours, theirs = np.delete(self.paths, self.half_width, axis=3)
        return (ours == theirs).all(axis=(0, 2, 3))

    same_steps: Pairs = derived(lambda pairs: pairs.steps[0] == pairs.steps[1])
    same_status: Pairs = derived(lambda pairs: pairs.status[0] == pairs.status[1])


@claim("brutzkus2019.lemma_f_2", Kind.STEP, "Lemma F.2, Appendix F", reads=sign_flips,
       given=[*DIVERSE_POINTS, some_filters],
       title="Negating one $u$ filter at the start changes nothing else")  # fmt: skip
def lemma_f_2(runs: ComparedTwins) -> Promise:
    """On diverse data two runs of gradient descent whose starts differ in the sign of $u^(1)$ alone differ in the sign
    of $u^(1)$ alone at every $t$.

    Bit for bit, after every step.
    """
    return Promise(
        {
            "negated": Fact(runs.negated, text="$u^(1)$ is negated at every $t$"),
            "others": Fact(runs.same_others, text="all other filters are the same at every $t$"),
            "steps": Fact(runs.same_steps, undecided=runs.unfinished, text="both stop after the same number of steps"),
            "status": Fact(runs.same_status, undecided=runs.unfinished, text="both stop in the same way"),
        },
        details=lambda: _compared(runs),
        note="Compared bit for bit, on a grid on which sums do not round.",
    )


def _compared(runs: ComparedTwins) -> dict[str, int]:
    (pairs,) = runs.cells
    steps = pairs.paths.shape[1] - 1
    return {"steps": steps, "half_width": pairs.half_width, "comparisons": steps * len(pairs)}

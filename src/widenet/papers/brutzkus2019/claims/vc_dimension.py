"""Remark 4.1 and Appendix C.1: what the network can tell apart, and its VC dimension.

N(x) depends on x only through the pattern set A of x, so at most 15 points can be shattered. More is true: N is a
linear function of eight features of A (`runs.shattering`), and linear functions on an 8-dimensional space shatter at
most eight points. With k ≥ 8 every coefficient is possible (w = c·p_i, w = c·(p_i + p_{i+1}), or the same for u), and
the eight sets with one or two neighbouring patterns have independent features: eight points are shattered. A larger
width changes nothing.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column, derived
from widenet.claims.implication import Promise, at_most, equal
from widenet.claims.sides import Fact
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.hypotheses import entries, filters
from widenet.papers.brutzkus2019.runs.outputs import on_sets
from widenet.papers.brutzkus2019.runs.same_pattern_set import SamePatternSet, same_pattern_set
from widenet.papers.brutzkus2019.runs.shattering import (
    FEATURES,
    INFEASIBLE,
    SOLVED,
    Coefficients,
    Shattering,
    network_for,
    shatterings,
)
from widenet.records import Form

N_SETS, N_FEATURES = 15, 8

Build = Callable[[Coefficients], Float[np.ndarray, "*labelling channel 2"]]


class Mates(SamePatternSet):
    """Inputs with one pattern set, and how many sets there are."""

    pattern_sets: int = derived(lambda runs: int((runs.inputs_per_set > 0).sum()))  #: that occur


def sets_seen(runs: Mates) -> dict[str, int]:
    """How many pattern sets occur, and how many of them in several inputs."""
    inputs = runs.per("cell").inputs_per_set
    return {
        "pattern_sets": int((inputs > 0).any(axis=0).sum()),
        "compared": int((inputs > 1).any(axis=0).sum()),
        "vc_dimension_at_most": N_SETS,
    }


@claim("brutzkus2019.remark_4_1", Kind.IDENTITY, "Remark 4.1, Section 4; Appendix C.1", reads=same_pattern_set,
       given=[entries], details=sets_seen,
       title="XORD networks see only the set of patterns of an input")  # fmt: skip
def remark_4_1(runs: Mates) -> Promise:
    """XORD: $N(x)$ and its gradient depend on $x$ only through the set of patterns in $x$. There are 15 such sets, so
    the VC dimension is at most 15 for every $k$.
    """
    words = f"largest difference of {{}} at equal pattern sets; up to {ROUNDING:g} counts as 0"
    how = {"within": ROUNDING, "where": runs.inputs_per_set > 1, "event": "sets of several inputs"}
    return Promise(
        {
            "outputs": equal(runs.output_spread, 0.0, text="the same outputs", quantity=words.format("N"), **how),
            "gradients": equal(
                runs.gradient_spread, 0.0, text="the same gradients", quantity=words.format("its gradient"), **how
            ),
            "sets": at_most(
                runs.per("cell").pattern_sets,
                N_SETS,
                trivial=N_SETS,
                text="at most $15$ pattern sets",
                quantity="pattern sets that occur",
            ),
        },
        note="Only 15 pattern sets exist, so at most 15 points can be shattered; see remark_4_1_sharp.",
    )


class Realized(Shattering):
    """Labellings and filters, with what the networks of eight features answer."""

    n_sets: int = derived(lambda runs: len(runs.sets))
    n_filters: int = derived(lambda runs: len(runs.filters))

    @column
    def answers(self) -> Float[np.ndarray, "filter 15"]:
        """Of every filter on the 15 sets."""
        return on_sets(np.stack([self.filters, np.zeros_like(self.filters)], axis=1))

    @column
    def residual(self) -> Float[np.ndarray, "filter 15"]:
        """How far the answers are from a linear function of the features."""
        return off_span(self.answers, FEATURES)

    @column
    def largest_answer(self) -> float:
        """At least 1."""
        return max(1.0, float(np.abs(self.answers).max(initial=0.0)))

    @column
    def rank(self) -> int:
        """Of the answers."""
        return int(np.linalg.matrix_rank(self.answers))

    @column
    def right(self) -> Bool[np.ndarray, " labelling"]:
        """Whether the network of a labelling has its signs."""
        return np.all(margins(self, network_for) > 0, axis=1)

    @property
    def found(self) -> np.ndarray:
        """Whether there are coefficients."""
        return self.status == SOLVED

    @property
    def lost(self) -> np.ndarray:
        """Whether the search failed."""
        return ~np.isin(self.status, (SOLVED, INFEASIBLE))


def off_span(
    answers: Float[np.ndarray, "filter 15"], features: Float[np.ndarray, "15 8"]
) -> Float[np.ndarray, "filter 15"]:
    """The distance of answers from their best linear function of these features."""
    coefficients = np.linalg.lstsq(features, answers.T, rcond=None)[0]
    return np.abs(features @ coefficients - answers.T).T


def margins(runs: Shattering, build: Build) -> Float[np.ndarray, "labelling set"]:
    """y·N on the sets, for the network of each labelling; NaN where there is none."""
    networks = build(runs.coefficients)
    values = on_sets(networks, runs.sets.tolist())
    # Coefficients that were not found are NaN, and the maximum with 0 in `build` need not keep that.
    return np.where(np.isnan(runs.coefficients).any(axis=1, keepdims=True), np.nan, runs.labellings * values)


def rank_and_residual(runs: Realized) -> dict[str, int | float]:
    """Over all filters and labellings."""
    each = runs.per("cell")
    return {
        "rank": int(each.rank.max(initial=0)),
        "residual": float(each.residual.max(initial=0.0)),
        "labellings": 2 * len(runs),
        "printed_bound": N_SETS,
    }


@claim("brutzkus2019.remark_4_1_sharp", Kind.CONSTRUCTION, "Remark 4.1, Section 4 (added: sharper)", reads=shatterings,
       given=[filters], details=rank_and_residual, form=Form.SHARPER,
       title="The VC dimension of XORD networks is 8")  # fmt: skip
def remark_4_1_sharp(runs: Realized) -> Promise:
    """XORD: $N$ is linear in eight features of the pattern set, so the VC dimension is at most 8. For $k ≥ 8$ and
    $d ≥ 2$ it is 8: {1}, {2}, {3}, {4}, {1, 2}, {2, 3}, {3, 4}, {1, 4} are shattered.

    Rank 8 is both halves of the bound: no nine sets have independent features, and eight have.
    """
    each = runs.per("cell")
    failed = 2 * runs.count(~runs.right & ~runs.lost)
    return Promise(
        {
            "realized": at_most(
                failed,
                0,
                undecided=(failed == 0) & (runs.count(runs.lost) > 0),
                text="a network with $k = 8$ realizes every labelling",
                quantity=f"labellings of {np.max(each.n_sets, initial=0)} pattern sets that no network realizes",
            ),
            "linear_labellings": Fact(
                runs.found, undecided=runs.lost, text="every labelling is linear in the features"
            ),
            "rank": equal(each.rank, N_FEATURES, text="the answers of filters have rank $8$"),
            "linear_answers": equal(
                each.residual,
                0.0,
                within=ROUNDING,
                of=each.largest_answer[:, None, None],
                text="the answers are linear in the eight features",
            ),
        },
        note="Rank 8 bounds the VC dimension by 8; the printed 15 is a valid bound, and not attained.",
    )

"""XORD before any training (Sections 4 and 5): networks that solve it, a decoy, and how rare diverse points are.

`observation_xord_realizable` (end of Section 4), `observation_decoy` (Section 5) and `observation_diverse_probability`
(the formulas for p₊ and p₋ after Definition 4.2).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.cases import by_value, column, derived
from widenet.claims.implication import Promise, at_most, equal
from widenet.claims.sides import Fact
from widenet.claims.tolerances import ROUNDING
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERN_SETS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.hypotheses import (
    DIVERSE_POINTS,
    OnPoints,
    filters_of_construction,
    margin_of_decoy,
    patches,
)
from widenet.papers.brutzkus2019.runs.decoy import Decoy, decoy, decoy_for
from widenet.papers.brutzkus2019.runs.xord_inputs import Candidates, DiverseShares, candidates, diverse_shares
from widenet.records import Form

DECOY_ERRORS = frozenset(set_index(*held) for held in ((3,), (4,), (3, 4), (2, 3), (2, 3, 4)))


@claim("brutzkus2019.observation_xord_realizable", Kind.CONSTRUCTION, "Section 4, Learning Setup", draws=candidates,
       given=[filters_of_construction], title="XORD needs two filters of each sign, and two are enough")  # fmt: skip
def observation_xord_realizable(candidates: Candidates) -> Promise:
    """XORD: the network with $w = 3p_1, 3p_3$ and $u = p_2, p_4$ has the sign of $f*$ on every input. No network with
    $k = 1$ has.

    That k = 1 fails is so by construction of ReLU: one w cannot fit p_1 and p_3 = −p_1. The search only agrees.
    """
    each = candidates.per("cell")
    n_patches = np.max(each.n_patches, initial=0)
    return Promise(
        {
            "inputs": at_most(
                candidates.count(candidates.margins <= 0),
                0,
                text="right on every input",
                quantity=f"wrong signs among all {len(candidates)} inputs with {n_patches} patches",
            ),
            "sets": at_most(
                each.wrong_sets, 0, text="right on all $15$ pattern sets", quantity="pattern sets with a wrong sign"
            ),
            "single_filters": at_most(
                each.solved,
                0,
                where=each.n_singles > 0,
                text="no network with $k = 1$",
                quantity="networks with k = 1 that are right on {1} and {3}",
                event="searches",
            ),
        },
        details=lambda: {
            "smallest_margin": float(candidates.margins.min()),
            "wrong_sets": int(each.wrong_sets.sum()),
            "networks_with_k_1": int(each.n_singles.sum()),
            "of_them_right_on_both": int(each.solved.sum()),
        },
        note="k = 1 needs ⟨w, p_1⟩ > 0 and ⟨w, p_3⟩ = −⟨w, p_1⟩ > 0; random search finds none either.",
    )


class Trap(OnPoints, Decoy):
    """A decoy beside a training set on which it has zero loss."""

    @column
    def loss(self) -> float:
        """The training loss: a mean per class."""
        losses = np.maximum(np.where(SET_LABELS == 1, self.margin, 1.0) - SET_LABELS * self.outputs, 0)
        sizes = np.where(SET_LABELS == 1, *(max(n, 1) for n in self.points.per_class))
        return float((np.array(self.points.counts) * losses / sizes).sum())

    largest_output: float = derived(lambda trap: float(np.abs(trap.outputs).max()))
    on_positive: float = derived(lambda trap: trap.outputs[DIVERSE_POSITIVE])  #: N on diverse positive points
    on_negative: float = derived(lambda trap: trap.outputs[DIVERSE_NEGATIVE])  #: N on diverse negative points

    @column
    def errors(self) -> Bool[np.ndarray, " set"]:
        """Whether the decoy gets a set wrong."""
        return SET_LABELS * self.outputs <= 0


def _names(places: Sequence[int]) -> list[str]:
    return ["".join(str(p + 1) for p in np.flatnonzero(PATTERN_SETS[place])) for place in places]


@claim("brutzkus2019.observation_decoy", Kind.CONSTRUCTION, "Section 5 (which sets are wrong is added)", draws=decoy,
       given=[margin_of_decoy, *DIVERSE_POINTS], on=decoy_for,
       title="A network with zero loss on diverse points that is wrong")  # fmt: skip
def observation_decoy(trap: Trap, *, expected_errors: frozenset[int] = DECOY_ERRORS) -> Promise:
    """XORD: $w = 3p_1$ twice and $u = p_2$ twice give $N(x⁺) = 8$ and $N(x⁻) = −4$ on diverse points, so loss 0 for
    $γ ≤ 8$, and are wrong on exactly the points with pattern set {3}, {4}, {3, 4}, {2, 3} or {2, 3, 4}.
    """
    each = trap.per("cell")
    expected = trap.map(lambda cell: np.isin(np.arange(len(cell)), list(expected_errors)), bool)
    how = {"within": ROUNDING, "of": each.largest_output}

    def wrong_sets() -> list[str]:
        return _names(np.flatnonzero(trap.cells[0].errors).tolist())

    return Promise(
        {
            "loss": at_most(
                each.loss, 0.0, text="loss $0$ on the training set", quantity="training loss of the decoy", **how
            ),
            "on_positive": equal(each.on_positive, 8.0, text="$N = 8$ on diverse positive points", **how),
            "on_negative": equal(each.on_negative, -4.0, text="$N = −4$ on diverse negative points", **how),
            "errors": Fact(trap.count(trap.errors != expected) == 0, text="wrong on exactly the five sets"),
        },
        details=lambda: {"wrong_sets": wrong_sets(), "outputs": trap.outputs},
        note=lambda: f"Wrong on the sets {', '.join(wrong_sets())} all the same.",
    )


Formula = Callable[[int], tuple[Fraction, Fraction]]
"""(p₊, p₋) from d."""


def diverse_probabilities(n_patches: int) -> tuple[Fraction, Fraction]:
    """(4^d − 4·3^d + 6·2^d − 4)/(4^d − 2^d) and 1 − 2^{1−d}."""
    d = n_patches
    return Fraction(4**d - 4 * 3**d + 6 * 2**d - 4, 4**d - 2**d), 1 - Fraction(2, 2**d)


def diverse_probabilities_as_printed(n_patches: int) -> tuple[Fraction, Fraction]:
    """1 − (4·3^d − 6·2^d + 4)/4^d and 1 − 1/2^{d−1}."""
    d = n_patches
    return 1 - Fraction(4 * 3**d - 6 * 2**d + 4, 4**d), 1 - Fraction(1, 2 ** (d - 1))


@claim("brutzkus2019.observation_diverse_probability", Kind.IDENTITY,
       "Section 4, after Definition 4.2 (with p₊ given that the point is positive)", draws=diverse_shares,
       given=[patches], form=Form.REPAIR, title="How rare diverse points are")  # fmt: skip
def observation_diverse_probability(runs: DiverseShares, *, formula: Formula = diverse_probabilities) -> Promise:
    """If $D₊$ is uniform on the positive inputs and $D₋$ on the negative ones, $d ≥ 4$, a point is diverse with
    probability $p₊ = (4^d − 4·3^d + 6·2^d − 4)/(4^d − 2^d)$ and $p₋ = 1 − 1/2^{d−1}$.
    """
    promised = (by_value(lambda d, place=place: float(formula(d)[place]), runs.n_patches) for place in (0, 1))
    how = {"within": ROUNDING, "trivial": 1.0}  # different fractions differ by far more
    positive, negative = (
        equal(found, said, text=f"${name}$", quantity=f"{name} by listing all {kind} inputs", **how)
        for found, said, name, kind in zip(
            (runs.share_of_positive, runs.share_of_negative),
            promised,
            ("p₊", "p₋"),
            ("positive", "negative"),
            strict=True,
        )
    )
    return Promise({"positive": positive, "negative": negative}, details=lambda: {"rows": _as_fractions(runs, formula)})


def _as_fractions(runs: DiverseShares, formula: Formula) -> list[dict]:
    columns = (runs.n_patches, runs.diverse_positive, runs.positive, runs.diverse_negative, runs.negative)
    return [
        {
            "patches": d,
            "formula": [str(share) for share in formula(d)],
            "counted": [str(Fraction(first, positive)), str(Fraction(second, negative))],
        }
        for d, first, positive, second, negative in zip(*(each.tolist() for each in columns), strict=True)
    ]


observation_diverse_probability_as_printed = observation_diverse_probability.variant(
    "observation_diverse_probability_as_printed",
    title="Positive points are diverse as often as printed",
    where="Section 4, after Definition 4.2",
    statement=(
        "If both $D₊$ and $D₋$ are uniform, then $p₊ = 1 − (4·3^d − 6·2^d + 4)/4^d$ and $p₋ = 1 − 1/2^{d−1}$, where "
        "$D₊$ is the distribution of positive points."
    ),
    formula=diverse_probabilities_as_printed,
)

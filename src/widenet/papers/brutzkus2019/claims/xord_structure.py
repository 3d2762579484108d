"""XORD before any training (Sections 4 and 5): networks that solve it, a decoy, and how rare diverse points are.

`observation_xord_realizable` (end of Section 4), `observation_decoy` (Section 5) and `observation_diverse_probability`
(the formulas for p₊ and p₋ after Definition 4.2).
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.base import Evidence, Kind, Runs, Silence, at_least, at_most, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERN_SETS, PATTERNS, SET_LABELS, set_index
from widenet.papers.brutzkus2019.claims.diverse_data import data_hypotheses, points_of
from widenet.papers.brutzkus2019.runs.outputs import on_sets, outputs
from widenet.papers.brutzkus2019.runs.training_set import PAIR, TrainingSet
from widenet.records import Scale

Filters = Float[np.ndarray, "channel 2"]
SOLUTION = np.stack([3 * PATTERNS[0], 3 * PATTERNS[2], PATTERNS[1], PATTERNS[3]])
"""w = 3p_1, 3p_3 and u = p_2, p_4."""
DECOY = np.stack([3 * PATTERNS[0], 3 * PATTERNS[0], PATTERNS[1], PATTERNS[1]])
"""w = 3p_1, 3p_1 and u = p_2, p_2."""
DECOY_ERRORS = frozenset(set_index(*held) for held in ((3,), (4,), (3, 4), (2, 3), (2, 3, 4)))


def every_word(n_patches: int) -> tuple[Int[np.ndarray, "word patch"], Float[np.ndarray, " word"]]:
    """All 4^d inputs by the numbers 0 to 3 of their patterns, and f*."""
    words = np.array(list(itertools.product(range(4), repeat=n_patches)))
    return words, np.where((words % 2 == 0).any(axis=1), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Candidates:
    """A network with k = 2 and its outputs on all inputs with d patches, and many networks with k = 1."""

    filters: Filters
    labels: Float[np.ndarray, " word"]
    outputs: Float[np.ndarray, " word"]
    singles: Float[np.ndarray, "network each 2"]
    n_patches: int


def candidates_on(filters: Filters, singles: Float[np.ndarray, "network each 2"], n_patches: int = 4) -> Candidates:
    """The outputs of a network on all 4^d inputs."""
    words, labels = every_word(n_patches)
    values = np.array([outputs(filters, x) for x in PATTERNS[words].reshape(len(words), -1)])
    return Candidates(filters, labels, values, singles, n_patches)


def _candidates(scale: Scale, seed: int) -> Candidates:
    n_networks = 20_000 if scale is Scale.QUICK else 10**6
    singles = np.random.default_rng([seed, 4]).normal(size=(n_networks, 2, 2))
    return candidates_on(SOLUTION, singles, 4 if scale is Scale.QUICK else 6)


@claim("brutzkus2019.observation_xord_realizable", Kind.CONSTRUCTION, "Section 4, Learning Setup", draws=_candidates)
def observation_xord_realizable(candidates: Candidates) -> Evidence:
    """XORD: the network with w = 3p_1, 3p_3 and u = p_2, p_4 has the sign of f* on every input; no network with k = 1
    has.

    That k = 1 fails is so by construction of ReLU: one w cannot fit p_1 and p_3 = −p_1. The search only agrees.
    """
    margins, set_margins = candidates.labels * candidates.outputs, SET_LABELS * on_sets(candidates.filters)
    both = on_sets(candidates.singles, (set_index(1), set_index(3))) > 0
    wrong_sets, solved = int((set_margins <= 0).sum()), int(both.all(axis=1).sum())
    n_inputs = len(candidates.labels)
    return evidence(
        {
            "right on every input": Sides(
                int((margins <= 0).sum()),
                0,
                quantity=f"wrong signs among all {n_inputs} inputs with {candidates.n_patches} patches",
            ),
            "right on all 15 pattern sets": Sides(wrong_sets, 0, quantity="pattern sets with a wrong sign"),
            "no network with k = 1": Sides(
                solved, 0, scored=len(both) > 0, quantity="networks with k = 1 that are right on {1} and {3}"
            ),
        },
        [at_most("filters", "filters of each sign in the construction", len(candidates.filters) // 2, 2)],
        runs=Runs(tried=n_inputs + len(both)),
        details={
            "smallest_margin": float(margins.min()),
            "wrong_sets": wrong_sets,
            "networks_with_k_1": len(both),
            "of_them_right_on_both": solved,
        },
        note="k = 1 needs ⟨w, p_1⟩ > 0 and ⟨w, p_3⟩ = −⟨w, p_1⟩ > 0; random search finds none either.",
    )


@dataclass(frozen=True)
class Trap:
    """A training set and γ, on which the decoy has zero loss."""

    training: TrainingSet = PAIR
    margin: float = 8.0


def _trap(scale: Scale, seed: int) -> Trap:
    return Trap()


@claim("brutzkus2019.observation_decoy", Kind.CONSTRUCTION, "Section 5 (which sets are wrong is added)", draws=_trap)
def observation_decoy(
    trap: Trap, *, filters: Filters = DECOY, expected_errors: frozenset[int] = DECOY_ERRORS
) -> Evidence:
    """XORD: w = 3p_1 twice and u = p_2 twice give N(x⁺) = 8 and N(x⁻) = −4 on diverse points, so loss 0 for γ ≤ 8, and
    are wrong on exactly the points with pattern set {3}, {4}, {3, 4}, {2, 3} or {2, 3, 4}.
    """
    values = on_sets(filters)
    losses = np.maximum(np.where(SET_LABELS == 1, trap.margin, 1.0) - SET_LABELS * values, 0)
    sizes = np.where(SET_LABELS == 1, *(max(n, 1) for n in trap.training.per_class))
    loss = float((np.array(trap.training.counts) * losses / sizes).sum())
    errors = frozenset(np.flatnonzero(SET_LABELS * values <= 0).tolist())
    names = ["".join(str(p + 1) for p in np.flatnonzero(PATTERN_SETS[place])) for place in sorted(errors)]
    room = ROUNDING * float(np.abs(values).max())
    return evidence(
        {
            "loss 0 on the training set": Sides(loss, 0.0, room=room, quantity="training loss of the decoy"),
            "N = 8 on diverse positive points": Sides(values[DIVERSE_POSITIVE], 8.0, Sense.EQUAL, room=room),
            "N = −4 on diverse negative points": Sides(values[DIVERSE_NEGATIVE], -4.0, Sense.EQUAL, room=room),
            "wrong on exactly the five sets": Fact(errors == expected_errors),
        },
        [at_most("margin", "required margin γ", trap.margin, 8), *data_hypotheses(trap.training)],
        runs=Runs(tried=len(values)),
        details={"wrong_sets": names, "outputs": values.tolist()},
        note=f"Wrong on the sets {', '.join(names)} all the same.",
    )


@observation_decoy.speaks
def observation_decoy_on(specimen: Specimen) -> Trap | Silence:
    """The decoy on the reader's training points."""
    points = points_of(specimen)
    return points if isinstance(points, Silence) else Trap(points, specimen.choices.required_margin)


@observation_decoy.fixes
def fixed_for_the_decoy(specimen: Specimen) -> dict[str, str]:
    """One network, which is written down."""
    given = "one network is given, and not trained"
    fixed: dict[str, str] = {name: given for name in ("n_runs", "step_size", "init_scale", "max_updates")}
    if specimen.choices.n_neurons != len(DECOY):
        fixed["n_neurons"] = f"the network has {len(DECOY)} neurons"
    return {**fixed, "slope": "the network has ReLU"}


@dataclass(frozen=True)
class DiverseShares:
    """The shares of diverse points among all positive inputs with d patches (p₊), and among all negative ones (p₋)."""

    n_patches: int
    positive: Fraction
    negative: Fraction


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


def count_diverse(n_patches: int) -> DiverseShares:
    """The two shares by listing all 4^d inputs."""
    words, labels = every_word(n_patches)
    held = np.stack([(words == pattern).any(axis=1) for pattern in range(4)], axis=1)
    positive, negative = held[labels > 0], held[labels < 0][:, 1::2]
    shares = [Fraction(int(possible.all(axis=1).sum()), len(possible)) for possible in (positive, negative)]
    return DiverseShares(n_patches, *shares)


def _diverse_shares(scale: Scale, seed: int) -> list[DiverseShares]:
    return [count_diverse(d) for d in ((4, 5, 6) if scale is Scale.QUICK else (4, 5, 6, 7, 8))]


@claim(
    "brutzkus2019.observation_diverse_probability",
    Kind.IDENTITY,
    "Section 4, after Definition 4.2 (with p₊ given that the point is positive)",
    draws=_diverse_shares,
)
def observation_diverse_probability(
    counted: Sequence[DiverseShares], *, formula: Formula = diverse_probabilities
) -> Evidence:
    """If D₊ is uniform on the positive inputs and D₋ on the negative ones, d ≥ 4, a point is diverse with probability
    p₊ = (4^d − 4·3^d + 6·2^d − 4)/(4^d − 2^d) and p₋ = 1 − 1/2^{d−1}.
    """
    said = [formula(shares.n_patches) for shares in counted]
    found = [(shares.positive, shares.negative) for shares in counted]
    measured, promised = np.array(found, np.float64), np.array(said, np.float64)
    return evidence(
        {
            f"{name}": Sides(
                measured[:, column],
                promised[:, column],
                Sense.EQUAL,
                room=ROUNDING * promised[:, column],  # different fractions differ by far more
                trivial=1.0,
                quantity=f"{name} by listing all {kind} inputs",
            )
            for column, (name, kind) in enumerate((("p₊", "positive"), ("p₋", "negative")))
        },
        [at_least("patches", "smallest number of patches d", min(shares.n_patches for shares in counted), 4)],
        runs=Runs(tried=sum(4**shares.n_patches for shares in counted)),
        details={
            "rows": [
                {
                    "patches": shares.n_patches,
                    "formula": [str(share) for share in promise],
                    "counted": [str(shares.positive), str(shares.negative)],
                }
                for shares, promise in zip(counted, said, strict=True)
            ]
        },
    )


observation_diverse_probability_as_printed = observation_diverse_probability.variant(
    "observation_diverse_probability_as_printed",
    where="Section 4, after Definition 4.2",
    statement=(
        "If both D₊ and D₋ are uniform, then p₊ = 1 − (4·3^d − 6·2^d + 4)/4^d and p₋ = 1 − 1/2^{d−1}, where D₊ is the "
        "distribution of positive points."
    ),
    formula=diverse_probabilities_as_printed,
)

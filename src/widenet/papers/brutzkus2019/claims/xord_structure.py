"""XORD before any training (Sections 4 and 5): networks that solve it, a decoy, and how rare diverse points are.

`observation_xord_realizable` (end of Section 4), `observation_decoy` (Section 5) and `observation_diverse_probability`
(the formulas for p₊ and p₋ after Definition 4.2).
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from widenet.claims.base import Claim, Evidence, Kind, Runs, Verdict, at_least, at_most
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.data.xord import PATTERN_SETS, PATTERNS, SET_LABELS, pattern_set, set_index, set_points
from widenet.papers.brutzkus2019.runs.training_set import PAIR, TrainingSet, from_data
from widenet.papers.brutzkus2019.runs.xord_descent import outputs
from widenet.types import Dataset, Progress, Scale, silent

Filters = Float[np.ndarray, "channel 2"]
SOLUTION = np.stack([3 * PATTERNS[0], 3 * PATTERNS[2], PATTERNS[1], PATTERNS[3]])
"""w = 3p_1, 3p_3 and u = p_2, p_4."""
DECOY = np.stack([3 * PATTERNS[0], 3 * PATTERNS[0], PATTERNS[1], PATTERNS[1]])
"""w = 3p_1, 3p_1 and u = p_2, p_2."""
DECOY_ERRORS = frozenset(set_index(*held) for held in ((3,), (4,), (3, 4), (2, 3), (2, 3, 4)))


def on_sets(filters: Float[np.ndarray, "*network channel 2"]) -> Float[np.ndarray, "*network 15"]:
    """N on one point for each of the 15 pattern sets."""
    return np.stack([outputs(filters, x) for x in np.asarray(set_points().inputs)], axis=-1)


def every_word(n_patches: int) -> tuple[Float[np.ndarray, "word dim"], Float[np.ndarray, " word"]]:
    """All 4^d inputs, and f*."""
    words = np.array(list(itertools.product(range(4), repeat=n_patches)))
    return PATTERNS[words].reshape(len(words), -1), np.where((words % 2 == 0).any(axis=1), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Candidates:
    """A network with k = 2, many with k = 1, and the number of patches of the inputs that are all tried."""

    filters: Filters
    singles: Float[np.ndarray, "network 2 2"]
    n_patches: int = 4


def check_observation_xord_realizable(candidates: Candidates, progress: Progress = silent) -> Evidence:
    """The network is right on all 4^d inputs and on all 15 sets; no network with k = 1 is right on {1} and on {3}."""
    inputs, labels = every_word(candidates.n_patches)
    wrong = sum(int(y * outputs(candidates.filters, x) <= 0) for x, y in zip(inputs, labels, strict=True))
    wrong_sets = int((SET_LABELS * on_sets(candidates.filters) <= 0).sum())
    both = on_sets(candidates.singles)[:, [set_index(1), set_index(3)]] > 0
    solved = int(both.all(axis=1).sum())
    progress(1.0, f"{len(labels)} inputs")
    conclusion = wrong == wrong_sets == solved == 0 if len(both) else None
    conditions = (
        at_most(
            "filters_of_each_sign_in_the", "filters of each sign in the construction", len(candidates.filters) // 2, 2
        ),
    )
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(labels) + len(both)),
        conclusion=conclusion,
        quantity=f"wrong signs among all {len(labels)} inputs with {candidates.n_patches} patches",
        promised=0.0,
        measured=float(wrong),
        config={"wrong_sets": wrong_sets, "networks_with_k_1": len(both), "of_them_right_on_both": solved},
        note="k = 1 needs ⟨w, p_1⟩ > 0 and ⟨w, p_3⟩ = −⟨w, p_1⟩ > 0; random search finds none either.",
    )


@dataclass(frozen=True)
class DecoySetting:
    """A training set and γ."""

    training: TrainingSet = PAIR
    margin: float = 8.0


def decoy_on(data: Dataset, margin: float = 8.0) -> DecoySetting:
    """The decoy on a reader's own training points."""
    return DecoySetting(from_data(data), margin)


def check_observation_decoy(
    setting: DecoySetting, progress: Progress = silent, *, filters: Filters = DECOY
) -> Evidence:
    """Zero loss on the training set, and wrong on exactly five of the 15 sets."""
    values, counts = on_sets(filters), np.array(setting.training.counts)
    goals = np.where(SET_LABELS > 0, setting.margin, 1.0)
    losses = np.maximum(goals - SET_LABELS * values, 0)
    sizes = np.where(SET_LABELS > 0, *(max(n, 1) for n in setting.training.per_class))
    loss = float((counts * losses / sizes).sum())
    errors = frozenset(np.flatnonzero(SET_LABELS * values <= 0).tolist())
    conclusion = loss <= 1e-12 and errors == DECOY_ERRORS
    conditions = (
        at_most("required_margin_margin", "required margin γ", setting.margin, 8),
        *setting.training.hypotheses(),
    )
    progress(1.0, "sets")
    names = ["".join(str(p + 1) for p in np.flatnonzero(PATTERN_SETS[place])) for place in sorted(errors)]
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=15),
        conclusion=conclusion,
        quantity="training loss of the decoy",
        promised=0.0,
        measured=loss,
        config={"wrong_sets": names, "outputs": values.tolist()},
        note=f"Wrong on the sets {', '.join(names)} all the same.",
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


def counted_probabilities(n_patches: int) -> tuple[Fraction, Fraction]:
    """The shares of diverse points among all positive inputs and among all negative ones, by listing them."""
    inputs, labels = every_word(n_patches)
    held = np.asarray(pattern_set(jnp.asarray(inputs)))
    positive, negative = held[labels > 0], held[labels < 0]
    shares = positive.all(axis=1), negative[:, 1::2].all(axis=1)
    return Fraction(int(shares[0].sum()), len(positive)), Fraction(int(shares[1].sum()), len(negative))


def check_observation_diverse_probability(
    patch_counts: Sequence[int], progress: Progress = silent, *, formula: Formula = diverse_probabilities
) -> Evidence:
    """The formulas against a list of all 4^d inputs, as fractions."""
    rows, agree = [], []
    for number, d in enumerate(patch_counts):
        promised, counted = formula(d), counted_probabilities(d)
        agree.append(promised == counted)
        rows.append((d, promised, counted))
        progress((number + 1) / len(patch_counts), f"{4**d} inputs")
    conditions = (at_least("smallest_number_of_patches_d", "smallest number of patches d", min(patch_counts), 4),)
    first = agree.index(False) if False in agree else 0
    (_, (promised, _), (counted, _)) = rows[first]
    conclusion = all(agree)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=sum(4**d for d in patch_counts)),
        conclusion=conclusion,
        quantity=f"p₊ at d = {rows[first][0]}, by listing all positive inputs",
        promised=float(promised),
        measured=float(counted),
        tightness=ratio(float(counted), float(promised)),
        config={
            "rows": [
                {"patches": d, "formula": [str(p) for p in said], "counted": [str(p) for p in found]}
                for d, said, found in rows
            ]
        },
    )


def check_observation_diverse_probability_as_printed(
    patch_counts: Sequence[int], progress: Progress = silent
) -> Evidence:
    """The same with the printed p₊, which is a share of all inputs and not of the positive ones."""
    return check_observation_diverse_probability(patch_counts, progress, formula=diverse_probabilities_as_printed)


def _candidates(scale: Scale, seed: int) -> Candidates:
    n_networks = 20_000 if scale is Scale.QUICK else 10**6
    singles = np.random.default_rng([seed, 4]).normal(size=(n_networks, 2, 2))
    return Candidates(SOLUTION, singles, 4 if scale is Scale.QUICK else 6)


def _decoy(scale: Scale, seed: int) -> DecoySetting:
    return DecoySetting()


def _patch_counts(scale: Scale, seed: int) -> tuple[int, ...]:
    return (4, 5, 6) if scale is Scale.QUICK else (4, 5, 6, 7, 8)


observation_xord_realizable = Claim(
    id="brutzkus2019.observation_xord_realizable",
    kind=Kind.CONSTRUCTION,
    statement=(
        "XORD: the network with w = 3p_1, 3p_3 and u = p_2, p_4 has the sign of f* on every input; no network with "
        "k = 1 has."
    ),
    where="Section 4, Learning Setup",
    judge=check_observation_xord_realizable,
    draws=_candidates,
)

observation_diverse_probability = Claim(
    id="brutzkus2019.observation_diverse_probability",
    kind=Kind.IDENTITY,
    statement=(
        "If D₊ is uniform on the positive inputs and D₋ on the negative ones, d ≥ 4, a point is diverse with "
        "probability p₊ = (4^d − 4·3^d + 6·2^d − 4)/(4^d − 2^d) and p₋ = 1 − 1/2^{d−1}."
    ),
    where="Section 4, after Definition 4.2 (with p₊ given that the point is positive)",
    judge=check_observation_diverse_probability,
    draws=_patch_counts,
)

observation_diverse_probability_as_printed = Claim(
    id="brutzkus2019.observation_diverse_probability_as_printed",
    kind=Kind.IDENTITY,
    statement=(
        "If both D₊ and D₋ are uniform, then p₊ = 1 − (4·3^d − 6·2^d + 4)/4^d and p₋ = 1 − 1/2^{d−1}, where D₊ is the "
        "distribution of positive points."
    ),
    where="Section 4, after Definition 4.2",
    judge=check_observation_diverse_probability_as_printed,
    draws=_patch_counts,
    expected=Verdict.VIOLATED,
)

observation_decoy = Claim(
    id="brutzkus2019.observation_decoy",
    kind=Kind.CONSTRUCTION,
    statement=(
        "XORD: w = 3p_1 twice and u = p_2 twice give N(x⁺) = 8 and N(x⁻) = −4 on diverse points, so loss 0 for γ ≤ 8, "
        "and are wrong on exactly the points with pattern set {3}, {4}, {3, 4}, {2, 3} or {2, 3, 4}."
    ),
    where="Section 5 (which sets are wrong is added)",
    judge=check_observation_decoy,
    draws=_decoy,
)

CLAIMS = (
    observation_xord_realizable,
    observation_diverse_probability,
    observation_diverse_probability_as_printed,
    observation_decoy,
)

"""Remark 4.1 and Appendix C.1: what the network can tell apart, and its VC dimension.

N(x) depends on x only through the pattern set A of x, so at most 15 points can be shattered. More is true. A filter w
has positive fits with two neighbouring patterns a and b (in the cycle p_1, p_2, p_3, p_4), say M ≥ m, and answers
(M − m)·1[a ∈ A] + m·1[A meets {a, b}]. So N is a linear function of eight numbers, 1[i ∈ A] and 1[A meets {i, i + 1}],
and linear functions on an 8-dimensional space shatter at most eight points. With k ≥ 8 every coefficient is possible
(w = c·p_i, w = c·(p_i + p_{i+1}), or the same for u), and the eight sets with one or two neighbouring patterns have
independent features: eight points are shattered. Width does not enter.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from widenet.claims.base import Claim, Evidence, Kind, Runs, at_least, at_most
from widenet.claims.legacy import Evidence_, decide
from widenet.data.xord import PATTERN_SETS, PATTERNS, pattern_set, set_index
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.papers.brutzkus2019.claims.xord_structure import on_sets
from widenet.types import Dataset, Progress, Scale, silent

SAME = 1e-12
FEATURES = np.concatenate([PATTERN_SETS, PATTERN_SETS | np.roll(PATTERN_SETS, -1, axis=1)], axis=1).astype(float)
"""(set, 8): 1[i ∈ A] for i = 1, …, 4, then 1[A meets {i, i + 1}]."""
DIRECTIONS = np.concatenate([PATTERNS, PATTERNS + np.roll(PATTERNS, -1, axis=0)])
"""A filter c·direction answers 2c·feature."""
SHATTERED = tuple(set_index(*held) for held in ((1,), (2,), (3,), (4,), (1, 2), (2, 3), (3, 4), (1, 4)))

Pooling = Callable[[Array, Array, Array], Array]
"""N(x) from filters, output weights and one input."""


def max_pooling(filters: Array, votes: Array, x: Array) -> Array:
    """The network of Eq. 2."""
    return ConvMaxPool(filters, votes)(x)


@dataclass(frozen=True, eq=False)
class Words:
    """Inputs, several of which share a pattern set, and networks that look at them."""

    inputs: Float[np.ndarray, "word dim"]
    filters: Float[np.ndarray, "network channel 2"]


def words_of(data: Dataset, *, n_networks: int = 20, half_width: int = 8, seed: int = 0) -> Words:
    """A reader's own points of XORD, and random networks."""
    filters = np.random.default_rng([seed, 41]).normal(size=(n_networks, 2 * half_width, 2))
    return Words(np.asarray(data.inputs, float), filters)


def check_remark_4_1(words: Words, progress: Progress = silent, *, pooling: Pooling = max_pooling) -> Evidence:
    """Outputs and gradients of different inputs with equal pattern sets. A control pools by the mean."""
    inputs = np.unique(words.inputs, axis=0)  # an input beside a copy of itself shows nothing
    votes = jnp.asarray(np.repeat([1.0, -1.0], words.filters.shape[1] // 2))
    look = jax.value_and_grad(lambda filters, x: pooling(filters, votes, x))
    each = jax.jit(jax.vmap(jax.vmap(look, (None, 0)), (0, None)))
    values, gradients = (np.asarray(leaf) for leaf in each(jnp.asarray(words.filters), jnp.asarray(inputs)))
    numbers = np.asarray(pattern_set(jnp.asarray(inputs))) @ [1, 2, 4, 8]
    groups = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    shared = [group for group in groups if len(group) > 1]
    spreads = [
        np.max([np.ptp(values[:, group], axis=1).max(), np.ptp(gradients[:, group], axis=1).max()])  # NaN stays NaN
        for group in shared
    ]
    progress(1.0, f"{len(inputs)} inputs")
    worst = float(np.max(spreads, initial=0.0))
    conclusion = worst <= SAME and len(groups) <= 15 if shared else None
    conditions = (
        at_most(
            "entries_that_are_not_1", "entries that are not ±1", int((~np.isin(words.inputs, (-1.0, 1.0))).sum()), 0
        ),
    )
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=len(words.filters) * len(inputs)),
        conclusion=conclusion,
        quantity=f"largest difference of N or its gradient at equal pattern sets; up to {SAME:g} counts as 0",
        promised=0.0,
        measured=worst,
        config={"pattern_sets": len(groups), "compared": len(shared), "vc_dimension_at_most": 15},
        note="Only 15 pattern sets exist, so at most 15 points can be shattered; see remark_4_1_sharp.",
    )


@dataclass(frozen=True, eq=False)
class Shattering:
    """Pattern sets (by their place among the 15), and random filters whose answers must lie in the eight features."""

    sets: tuple[int, ...]
    filters: Float[np.ndarray, "filter 2"]


def separating(labels: Sequence[float], sets: Sequence[int]) -> Float[np.ndarray, " 8"] | None:
    """Coefficients with y·⟨coefficients, features⟩ ≥ 1 on these sets, if there are any."""
    rows = np.asarray(labels)[:, None] * FEATURES[list(sets)]
    found = scipy.optimize.linprog(
        np.zeros(8), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None), method="highs"
    )
    return found.x if found.success else None


def network_for(coefficients: Float[np.ndarray, " 8"]) -> Float[np.ndarray, "16 2"]:
    """Eight w's and eight u's whose network is Σ coefficient·feature on every pattern set."""
    plus, minus = np.maximum(coefficients, 0) / 2, np.maximum(-coefficients, 0) / 2
    return np.concatenate([plus[:, None] * DIRECTIONS, minus[:, None] * DIRECTIONS])


def check_remark_4_1_sharp(setting: Shattering, progress: Progress = silent) -> Evidence:
    """The answers have rank 8 and lie in the features; every labelling of the sets has a network with k = 8."""
    single = np.concatenate([setting.filters[:, None], np.zeros_like(setting.filters[:, None])], axis=1)
    answers = on_sets(single)
    rank = int(np.linalg.matrix_rank(answers))
    coefficients = np.linalg.lstsq(FEATURES, answers.T, rcond=None)[0]
    residual = float(np.abs(FEATURES @ coefficients - answers.T).max(initial=0.0))
    n_sets, failed = len(setting.sets), []
    # A labelling and its opposite stand or fall together: exchange the w's and the u's.
    labellings = [(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=n_sets - 1)]
    for number, labels in enumerate(labellings):
        found = separating(labels, setting.sets)
        margins = np.array(labels) * on_sets(network_for(found))[list(setting.sets)] if found is not None else -1
        if not np.all(margins > 0):
            failed.append(labels)
        if number % 32 == 31:
            progress((number + 1) / len(labellings), "labellings")
    conditions = (at_least("random_filters", "random filters", len(setting.filters), 15),)
    conclusion = rank == 8 and residual <= SAME * max(1.0, float(np.abs(answers).max())) and not failed
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=2 * len(labellings)),
        conclusion=conclusion,
        quantity=f"labellings of {n_sets} pattern sets that no network realizes",
        promised=0.0,
        measured=float(2 * len(failed)),
        config={"rank": rank, "residual": residual, "labellings": 2 * len(labellings), "printed_bound": 15},
        note="Rank 8 bounds the VC dimension by 8; the printed 15 is a valid bound, and not attained.",
    )


def _words(scale: Scale, seed: int) -> Words:
    draw = np.random.default_rng([seed, 15])
    n_words = 120 if scale is Scale.QUICK else 2000
    # Few different patterns in a word as often as many.
    held = [draw.choice(4, draw.integers(1, 5), replace=False) for _ in range(n_words)]
    words = np.array([draw.choice(patterns, 7) for patterns in held])
    return words_of(Dataset(jnp.asarray(PATTERNS[words].reshape(n_words, -1)), jnp.zeros(n_words)), seed=seed)


def _shattering(scale: Scale, seed: int) -> Shattering:
    return Shattering(SHATTERED, np.random.default_rng([seed, 8]).normal(size=(200, 2)))


remark_4_1 = Claim(
    id="brutzkus2019.remark_4_1",
    kind=Kind.IDENTITY,
    statement=(
        "XORD: N(x) and its gradient depend on x only through the set of patterns in x; there are 15 such sets, so the "
        "VC dimension is at most 15, whatever k is."
    ),
    where="Remark 4.1, Section 4; Appendix C.1",
    judge=check_remark_4_1,
    draws=_words,
)

remark_4_1_sharp = Claim(
    id="brutzkus2019.remark_4_1_sharp",
    kind=Kind.CONSTRUCTION,
    statement=(
        "XORD: N is linear in eight features of the pattern set, so the VC dimension is at most 8; for k ≥ 8 and d ≥ 2 "
        "it is 8: {1}, {2}, {3}, {4}, {1, 2}, {2, 3}, {3, 4}, {1, 4} are shattered."
    ),
    where="Remark 4.1, Section 4 (added: sharper)",
    judge=check_remark_4_1_sharp,
    draws=_shattering,
)

CLAIMS = (remark_4_1, remark_4_1_sharp)

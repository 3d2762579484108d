"""XOR detection (XORD) of brutzkus2019: which of four patterns occur in a point; XOR itself is the case of one patch.

A point is d patches from {±1}². Its label is +1 where a positive pattern, (1, 1) or (−1, −1), occurs. The networks of
the paper see a point only through its *pattern set*: which of the four patterns it holds. There are 15 such sets, so a
law of points is, for every purpose but the points themselves, 15 probabilities, and an error is a sum over 15 sets.
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from widenet.bits import uniforms
from widenet.errors import DataError
from widenet.types import Dataset, RunKey, require_count

PATTERNS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
"""p_1, …, p_4. The first and the third are the positive ones; each is minus the one two places on."""

PATTERN_SETS = np.array([[bool(number >> pattern & 1) for pattern in range(4)] for number in range(1, 16)])
"""(set, pattern): which patterns each of the 15 non-empty sets holds. Set i holds p_j where bit j−1 of i + 1 is 1."""

SET_LABELS = np.where(PATTERN_SETS[:, 0] | PATTERN_SETS[:, 2], 1.0, -1.0)
"""f*: +1 for the 12 sets with a positive pattern, −1 for the other three."""

DIVERSE_POSITIVE, DIVERSE_NEGATIVE = 14, 9
"""All four patterns; both negative ones: the sets of *diverse* points."""


def set_index(*patterns: int) -> int:
    """The place of a set among the 15, from the numbers 1 to 4 of its patterns: set_index(2, 4) = 9."""
    if not patterns or not set(patterns) <= {1, 2, 3, 4}:
        raise ValueError(f"a pattern set needs one or more of the patterns 1, 2, 3 and 4, got {patterns}")
    return sum(1 << (pattern - 1) for pattern in set(patterns)) - 1


def pattern_set(inputs: Float[Array, "*sample dim"]) -> Bool[Array, "*sample 4"]:
    """P_x: which of the four patterns each point holds."""
    if inputs.shape[-1] % 2 or not inputs.shape[-1]:
        raise ValueError(f"a point of XORD is made of pairs, got {inputs.shape[-1]} numbers")
    patches = inputs.reshape(*inputs.shape[:-1], -1, 1, 2)
    return jnp.any(jnp.all(patches == PATTERNS, axis=-1), axis=-2)


def count_sets(data: Dataset) -> Int[Array, "*run 15"]:
    """How many points of a data set have each pattern set: all that training sees of it.

    Arrays of numbers (not inside a compiled program) are checked to be a data set of XORD.
    """
    if not isinstance(data, Dataset):
        raise ValueError(f"count_sets takes a Dataset of points and their labels, got {type(data).__name__}")
    if not isinstance(data.inputs, Tracer):
        _check(data)
    numbers = pattern_set(data.inputs) @ jnp.asarray([1, 2, 4, 8]) - 1
    return jnp.sum(numbers[..., None] == jnp.arange(15), axis=-2)


def _check(data: Dataset) -> None:
    inputs, labels = np.asarray(data.inputs), np.asarray(data.labels)
    if not np.isin(inputs, (-1.0, 1.0)).all():
        raise DataError(f"inputs of XORD are -1 or +1, got {inputs[~np.isin(inputs, (-1.0, 1.0))][0]:g}.")
    expected = np.where(np.asarray(pattern_set(data.inputs))[..., ::2].any(axis=-1), 1.0, -1.0)
    if (wrong := labels != expected).any():
        raise DataError(
            f"{wrong.sum()} of {labels.size} labels are not those of XORD (+1 where (1, 1) or (-1, -1) occurs)."
        )


class Xord(eqx.Module):
    """A law of XORD points: first the pattern set, then a uniformly shuffled point that holds exactly this set.

    Each pattern of the set is placed once, the other patches are uniform on the set, and all are shuffled. (For
    networks that see sets only, this choice inside a set has no effect.)

    Attributes:
      probabilities: of the 15 sets; they sum to 1.
      thresholds: the running sums of the probabilities of all sets, of the positive ones given that the point is
        positive, and of the negative ones given that it is negative. Kept, not recomputed: a sum inside a compiled
        program may round differently, and a draw is the same bits everywhere.
      n_patches: d.
    """

    probabilities: Float[Array, " 15"]
    thresholds: Float[Array, "3 15"]
    n_patches: int = eqx.field(static=True)

    @eqx.filter_jit
    def sample(self, key: RunKey, n_samples: int) -> Dataset:
        """n independent points, of either label."""
        require_count("n_samples", n_samples)
        drawn, _ = uniforms(key, (n_samples, 1 + 2 * self.n_patches))
        return _points(_pick(drawn[:, 0], self.thresholds[0]), drawn[:, 1:])

    @eqx.filter_jit
    def sample_balanced(self, key: RunKey, n_per_class: int) -> Dataset:
        """m positive points, then m negative ones, each independent given its label."""
        require_count("n_per_class", n_per_class)
        drawn, _ = uniforms(key, (2 * n_per_class, 1 + 2 * self.n_patches))
        positive = _pick(drawn[:n_per_class, 0], self.thresholds[1])
        negative = _pick(drawn[n_per_class:, 0], self.thresholds[2])
        return _points(jnp.concatenate([positive, negative]), drawn[:, 1:])

    def error(self, outputs: Float[Array, "*run 15"]) -> Float[Array, "*run"]:
        """The exact probability that the sign is wrong, given the outputs on the 15 sets. An output of 0 is wrong."""
        return jnp.sum(jnp.where(SET_LABELS * outputs > 0, 0.0, self.probabilities), axis=-1)


def set_points() -> Dataset:
    """One point of four patches for each of the 15 sets, in order: a network known on these is known everywhere."""
    held = [np.resize(np.flatnonzero(row), 4) for row in PATTERN_SETS]
    return Dataset(jnp.asarray(PATTERNS[np.array(held)].reshape(15, 8)), jnp.asarray(SET_LABELS))


def make_xord(
    n_patches: int = 8,
    diverse_positive: float = 0.5,
    diverse_negative: float = 0.9,
    non_diverse: Sequence[Sequence[int]] | None = None,
) -> Xord:
    """Fair labels; diverse with the given probabilities (p₊, p₋), else uniform on the listed non-diverse sets.

    Main arguments:
      n_patches: d; 1 is XOR, and diverse positive points need 4.
      diverse_positive, diverse_negative: p₊ and p₋. The defaults are those of Figure 1 of brutzkus2019.

    Other arguments:
      non_diverse: pattern numbers, ((1, 2, 4), (2, 3, 4), (2,), (4,)) for instance. The paper does not say how its
        non-diverse points are distributed; by default every non-diverse set that fits into d patches is equally likely
        among those of its label, 11 positive and 2 negative ones where d ≥ 3.
    """
    if n_patches < 1:
        raise ValueError(f"n_patches must be at least 1, got {n_patches}")
    for name, share in (("diverse_positive", diverse_positive), ("diverse_negative", diverse_negative)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must lie between 0 and 1, got {share}")
    sizes = PATTERN_SETS.sum(axis=1)
    diverse = np.isin(np.arange(15), (DIVERSE_POSITIVE, DIVERSE_NEGATIVE))
    others = (sizes <= n_patches) & ~diverse
    if non_diverse is not None:
        others = np.isin(np.arange(15), [set_index(*patterns) for patterns in non_diverse])
        if (others & diverse).any():
            raise ValueError("non_diverse must not list the diverse sets (1, 2, 3, 4) and (2, 4)")
    probabilities = np.zeros(15)
    for label, share, place in (
        (1, diverse_positive, DIVERSE_POSITIVE),
        (-1, diverse_negative, DIVERSE_NEGATIVE),
    ):
        among = others & (label == SET_LABELS)
        probabilities[place] = share / 2
        if share < 1:
            if not among.any():
                raise ValueError(f"non_diverse lists no set with label {label:+d}, but {1 - share:g} of them need one")
            probabilities[among] = (1 - share) / 2 / among.sum()
    return from_set_probabilities(probabilities, n_patches)


def from_set_probabilities(probabilities: Sequence[float] | np.ndarray, n_patches: int) -> Xord:
    """A law of XORD points from the probabilities of the 15 sets; both labels must occur."""
    law = np.asarray(probabilities, float)
    if law.shape != (15,) or not (law >= 0).all() or abs(law.sum() - 1) > 1e-12:
        raise ValueError(f"probabilities must be 15 numbers from 0 on that sum to 1, got {law.tolist()}")
    too_large = (PATTERN_SETS.sum(axis=1) > n_patches) & (law > 0)
    if too_large.any():
        listed = tuple(int(pattern) + 1 for pattern in np.flatnonzero(PATTERN_SETS[too_large.argmax()]))
        raise ValueError(
            f"the pattern set {listed} does not fit into n_patches = {n_patches}; use at least {len(listed)}"
        )
    parts = [law, law * (SET_LABELS > 0), law * (SET_LABELS < 0)]
    if not all(part.sum() > 0 for part in parts):
        raise ValueError(f"both labels must have a positive probability, got {law.tolist()}")
    return Xord(jnp.asarray(law), jnp.asarray(np.stack([_running_sums(part) for part in parts])), n_patches)


def _running_sums(weights: np.ndarray) -> np.ndarray:
    sums = np.cumsum(weights) / weights.sum()
    # From the last set that can occur on, exactly 1: no uniform number in [0, 1) falls beyond it.
    sums[np.flatnonzero(weights)[-1] :] = 1.0
    return sums


def _pick(uniform: Float[Array, " sample"], thresholds: Float[Array, " 15"]) -> Int[Array, " sample"]:
    return jnp.sum(uniform[:, None] >= thresholds, axis=1)


def _points(sets: Int[Array, " sample"], uniform: Float[Array, "sample twice"]) -> Dataset:
    """A shuffled point for each set, from 2d uniform numbers: d order the patches, d choose the repeated patterns."""
    order, choice = jnp.split(uniform, 2, axis=1)
    members = jnp.asarray(np.argsort(~PATTERN_SETS, axis=1, kind="stable"))[sets]
    sizes = jnp.asarray(PATTERN_SETS.sum(axis=1))[sets][:, None]
    ranks = jnp.argsort(jnp.argsort(order, axis=1), axis=1)
    repeated = jnp.minimum((choice * sizes).astype(ranks.dtype), sizes - 1)
    held = jnp.take_along_axis(members, jnp.where(ranks < sizes, ranks, repeated), axis=1)
    return Dataset(jnp.asarray(PATTERNS)[held].reshape(len(sets), -1), jnp.asarray(SET_LABELS)[sets])

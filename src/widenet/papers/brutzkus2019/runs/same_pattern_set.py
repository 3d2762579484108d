"""Points of XORD that share a pattern set, and how far a network and its gradient can tell them apart (Remark 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Count
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.data.own import recall
from widenet.data.xord import PATTERNS, pattern_set
from widenet.networks.arrays import plus_minus_weights
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.progress import Progress, over, silent
from widenet.records import ClosedModel, Scale

N_NETWORKS, HALF_WIDTH = 20, 8
Pooling = Callable[[Array, Array, Array], Array]
"""N(x) from filters, output weights and one input."""


class SamePatternSetSetting(ClosedModel):
    """Random words of seven patterns, or your own points, and random networks that look at them."""

    n_words: int = 120
    n_networks: int = N_NETWORKS
    half_width: int = HALF_WIDTH
    seed: int = 0
    own_data: str | None = None


@dataclass(frozen=True, eq=False)
class SamePatternSet(Cases):
    """Outputs and gradients of different inputs with one pattern set, compared.

    Pattern sets are counted from 0, the set of an input that holds none of the four patterns, to 15.
    """

    rows = "network"

    other_entries: Count  #: entries of the inputs that are not ±1
    inputs_per_set: Int[np.ndarray, " 16"]  #: how many different inputs have each set
    output_spread: Float[np.ndarray, "network 16"]  #: the largest difference of N between two inputs of each set
    gradient_spread: Float[np.ndarray, "network 16"]  #: the largest difference of its gradient

    def counts(self) -> dict[str, int]:
        """Every network on every input."""
        tried = sum(int(cell.inputs_per_set.sum()) * len(cell) for cell in self.cells)
        return {"tried": tried, "diverged": 0, "unfinished": 0}


def max_pooling(filters: Array, votes: Array, x: Array) -> Array:
    """The network of Eq. 2."""
    return ConvMaxPool(filters, votes)(x)


def compare_mates(
    inputs: Float[np.ndarray, "word dim"],
    filters: Float[np.ndarray, "network channel 2"],
    progress: Progress = silent,
    *,
    pooling: Pooling = max_pooling,
) -> SamePatternSet:
    """Every network on every input. A control pools in another way."""
    words = np.unique(inputs, axis=0)  # an input beside a copy of itself shows nothing
    places = np.asarray(pattern_set(jnp.asarray(words))) @ [1, 2, 4, 8]
    votes = jnp.asarray(plus_minus_weights(filters.shape[1] // 2))
    each = jax.jit(jax.vmap(jax.value_and_grad(lambda w, x: pooling(w, votes, x)), (None, 0)))
    spreads = np.zeros((2, len(filters), 16))
    for network, weights in enumerate(over(list(filters), progress, "networks")):
        values, gradients = (np.asarray(leaf) for leaf in each(jnp.asarray(weights), jnp.asarray(words)))
        for place in np.unique(places):
            mates = places == place
            spreads[:, network, place] = np.ptp(values[mates]), np.ptp(gradients[mates], axis=0).max()
    return SamePatternSet(int((~np.isin(inputs, (-1.0, 1.0))).sum()), np.bincount(places, minlength=16), *spreads)


def random_networks(seed: int, n_networks: int = N_NETWORKS, half_width: int = HALF_WIDTH) -> np.ndarray:
    """Gaussian filters, (network, channel, 2)."""
    return np.random.default_rng([seed, 41]).normal(size=(n_networks, 2 * half_width, 2))


def random_words(seed: int, n_words: int) -> Float[np.ndarray, "word 14"]:
    """Words of seven patterns; few different ones in a word as often as many."""
    draw = np.random.default_rng([seed, 15])
    held = [draw.choice(4, draw.integers(1, 5), replace=False) for _ in range(n_words)]
    words = np.array([draw.choice(patterns, 7) for patterns in held])
    return PATTERNS[words].reshape(n_words, -1)


def run_same_pattern_set(setting: SamePatternSetSetting, progress: Progress) -> SamePatternSet:
    """The words or points of a setting, and its networks."""
    if setting.own_data is None:
        inputs = random_words(setting.seed, setting.n_words)
    else:
        inputs = np.asarray(recall(setting.own_data).inputs, np.float64)
    return compare_mates(inputs, random_networks(setting.seed, setting.n_networks, setting.half_width), progress)


def _settings(scale: Scale, seed: int) -> list[SamePatternSetSetting]:
    return [SamePatternSetSetting(n_words=120 if scale is Scale.QUICK else 2000, seed=seed)]


def same_set_on(user_data: UserData) -> Applied | NotApplicable:
    """Random networks on the user's points, which need no labels."""
    inputs, choices = user_data.inputs, user_data.choices
    if inputs.ndim != 2 or inputs.shape[1] % 2 or not inputs.size:
        return NotApplicable(
            f"It applies to data of XORD only: a point of XORD is made of pairs; inputs have the shape {inputs.shape}."
        )
    if not np.isin(inputs, (-1.0, 1.0)).all(axis=1).any():
        return NotApplicable("A point of XORD is made of pairs of ±1, and every point here has another entry.")
    setting = SamePatternSetSetting(n_words=0, seed=choices.seed, own_data=user_data.digest)
    untrained = ("step_size", "init_scale", "max_updates", "required_margin")
    fixed: dict[str, str] = dict.fromkeys(untrained, "nothing is trained")
    if choices.n_neurons != 2 * setting.half_width:
        fixed["n_neurons"] = f"networks with k = {setting.half_width}, {2 * setting.half_width} neurons, are compared"
    if choices.n_runs != setting.n_networks:
        fixed["n_runs"] = f"{setting.n_networks} networks are compared"
    if choices.diverse_only:
        fixed["diverse_only"] = "all points are compared"
    return Applied([setting], user_data.unused({**fixed, "slope": "these networks have ReLU"}))


same_pattern_set = Experiment(
    "brutzkus2019.same_pattern_set", _settings, run_same_pattern_set, seconds=1.0, on=same_set_on
)

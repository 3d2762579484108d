"""Runs on fresh training sets drawn from a law of XORD, as in Figures 1 and 5 of brutzkus2019.

Fresh data and fresh filters in every run; step size, initial scale and stopping rule of Appendix A. The draws depend on
the seed, the width and the number of the run alone: two margins, or two laws, with the same seed are pairs, and the
first hundred of a thousand runs are the hundred runs of a smaller experiment.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from widenet.claims.experiments import Experiment
from widenet.data import Xord, count_sets, make_xord
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERN_SETS, SET_LABELS, from_set_probabilities
from widenet.networks import ConvMaxPool, make_conv_maxpool
from widenet.papers.brutzkus2019.runs.few_widths import train_filled_up
from widenet.papers.brutzkus2019.sources import as_networks
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import on_grid
from widenet.types import RunKey, RunKeys

STEP_CONSTANT = 0.02
"""c_η = ηk: Appendix A takes η = 0.04 divided by the number 2k of channels."""
INITIAL_SCALE = 1e-5
"""σ_g in Appendix A."""
PER_CLASS = 6
"""Positive training points, and negative ones."""
CHANNELS = (4, 6, 8, 20, 50, 100, 200)
"""The widths of Figures 1 and 5."""
NARROW_CHANNELS = (4, 6, 8, 20)
"""The widths at which some runs do not reach zero training error, so that laws can be told apart."""

POSITIVE_SETS = ((1,), (3,), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4), (1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4))
"""The 11 positive sets that are not diverse."""
ALL_SETS, UNIFORM_PATCHES = "all 11 sets", "7 uniform patches"
LAWS: dict[str, tuple[tuple[int, ...], ...]] = {
    ALL_SETS: POSITIVE_SETS,
    "sets of three patterns": tuple(held for held in POSITIVE_SETS if len(held) == 3),
    "sets of two patterns": tuple(held for held in POSITIVE_SETS if len(held) == 2),
    "one pattern alone": tuple(held for held in POSITIVE_SETS if len(held) == 1),
    "{1,2,4} or {2,3,4}": ((1, 2, 4), (2, 3, 4)),
    "sets with both 1 and 3": tuple(held for held in POSITIVE_SETS if {1, 3} <= set(held)),
    UNIFORM_PATCHES: POSITIVE_SETS,
}
"""Laws of the points by name: the positive sets that non-diverse points may have, equally likely but in the last."""


class SampledSetting(ClosedModel):
    """Runs of one width, on training sets from one law, with one margin γ on positive points."""

    seed: int
    n_channels: int
    n_runs: int
    law: str = ALL_SETS
    margin: float = 1.0


@dataclass(frozen=True, eq=False)
class SampledRuns:
    """How the runs ended.

    Attributes:
      counts: how many training points of each run have each pattern set.
      outputs: N on the 15 pattern sets.
      test_error: exact, a sum over the 15 sets.
    """

    setting: SampledSetting
    counts: Int[np.ndarray, "run 15"]
    outputs: Float[np.ndarray, "run 15"]
    train_error: Float[np.ndarray, " run"]
    test_error: Float[np.ndarray, " run"]
    steps: Int[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]

    def solved(self, *, sign_of_zero: int = 0) -> Bool[np.ndarray, " run"]:
        """Whether no training point is wrong; an output of 0 counts as +1, as −1, or (0) as wrong for both labels."""
        # Training does not look at signs: what counts as wrong changes the count and nothing else.
        right = (SET_LABELS * self.outputs > 0) | ((sign_of_zero == SET_LABELS) & (self.outputs == 0))
        return (right | (self.counts == 0)).all(axis=1)


def sampled_settings(
    scale: Scale, seed: int, *, law: str = ALL_SETS, margin: float = 1.0, channels: Sequence[int] = CHANNELS
) -> list[SampledSetting]:
    """One setting per width. Narrow networks have more runs, for those who tell laws apart by them."""
    many = 1000 if scale is Scale.QUICK else 5000
    return [
        SampledSetting(
            seed=seed, n_channels=width, n_runs=many if width in NARROW_CHANNELS else 400, law=law, margin=margin
        )
        for width in channels
    ]


def train_sampled(setting: SampledSetting, progress: Progress) -> SampledRuns:
    """Train the runs of a setting."""
    law, width, n_runs = law_of(setting.law), setting.n_channels, setting.n_runs
    networks = draw_networks(setting.seed, width, n_runs, INITIAL_SCALE)
    counts = draw_training_sets(setting.seed, width, n_runs, law)
    networks, step_sizes = on_grid(networks, counts, 2 * STEP_CONSTANT / width)
    runs = train_filled_up(networks, counts, step_sizes, margin=setting.margin, progress=progress)
    test_error = np.asarray(law.error(jnp.asarray(runs.outputs)))
    return SampledRuns(setting, counts, runs.outputs, runs.train_error, test_error, runs.steps, runs.status)


sampled_runs = Experiment("brutzkus2019.sampled_runs", sampled_settings, train_sampled, seconds=0.5)


def law_of(name: str) -> Xord:
    """The law of this name; p₊ and p₋ as in the paper."""
    if name == UNIFORM_PATCHES:
        return uniform_patches()
    return make_xord(non_diverse=[*LAWS[name], (2,), (4,)])


def uniform_patches() -> Xord:
    """Non-diverse points as 7 independent uniform patches give them."""
    sizes = PATTERN_SETS.sum(axis=1)
    # How likely exactly these patterns occur in 7 patches: inclusion and exclusion.
    chances = np.array(
        [sum((-1) ** (size - n) * comb(size, n) * (n / 4) ** 7 for n in range(size + 1)) for size in sizes]
    )
    law = np.zeros(15)
    for label, share, diverse in ((1, 0.5, DIVERSE_POSITIVE), (-1, 0.9, DIVERSE_NEGATIVE)):
        others = (label == SET_LABELS) & (np.arange(15) != diverse)
        law[others] = (1 - share) / 2 * chances[others] / chances[others].sum()
        law[diverse] = share / 2
    return from_set_probabilities(law, 8)  # the number of patches of the other laws; only the sets matter


DRAWN_RUNS, DRAWN_CHANNELS = 1024, 200
"""How much is drawn at once, also where less is needed: so one program draws for all widths. The first numbers of a
draw do not depend on how many follow."""


def draw_networks(seed: int, n_channels: int, n_runs: int, scale: float) -> ConvMaxPool:
    """A network per run, whose filters belong to the seed, the width and the number of the run."""
    parts = [
        np.asarray(_draw_filters(*numbers, jnp.asarray(scale), max(n_channels, DRAWN_CHANNELS)))
        for numbers in _numbers(seed, n_channels, n_runs)
    ]
    filters = np.concatenate(parts)[:n_runs, :n_channels]
    return as_networks(filters)


def draw_training_sets(seed: int, n_channels: int, n_runs: int, law: Xord) -> Int[np.ndarray, "run 15"]:
    """How many training points of each run have each pattern set; drawn as the filters are."""
    parts = [np.asarray(_draw_sets(*numbers, law, PER_CLASS)) for numbers in _numbers(seed, n_channels, n_runs)]
    return np.concatenate(parts)[:n_runs]


def _numbers(seed: int, n_channels: int, n_runs: int) -> list[tuple[RunKey, Int[Array, " run"]]]:
    """The key of the seed with the numbers of the runs that are drawn together."""
    first = n_channels * 100_000 + np.arange(0, n_runs, DRAWN_RUNS)
    return [(jax.random.key(seed), jnp.asarray(start + np.arange(DRAWN_RUNS))) for start in first]


def run_keys(key: RunKey, numbers: Int[Array, " run"]) -> tuple[RunKeys, RunKeys]:
    """For each run, the key of its filters and the key of its training set."""
    own = jax.vmap(jax.random.fold_in, (None, 0))(key, numbers)
    filters, sets = jax.vmap(jax.random.split, out_axes=1)(own)
    return filters, sets


@functools.partial(jax.jit, static_argnames="n_channels")
def _draw_filters(
    key: RunKey, numbers: Int[Array, " run"], scale: Float[Array, ""], n_channels: int
) -> Float[Array, "run channel 2"]:
    draw = functools.partial(make_conv_maxpool, n_channels=n_channels, scale=scale)
    return jax.vmap(draw)(run_keys(key, numbers)[0]).filters


@eqx.filter_jit
def _draw_sets(key: RunKey, numbers: Int[Array, " run"], law: Xord, n_per_class: int) -> Int[Array, "run 15"]:
    draw = jax.vmap(lambda own: law.sample_balanced(own, n_per_class))
    return count_sets(draw(run_keys(key, numbers)[1]))

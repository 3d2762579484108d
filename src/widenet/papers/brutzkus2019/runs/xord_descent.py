"""Plain gradient descent on points of XORD, by automatic differentiation of the network.

Nothing here knows about pattern sets or diverse points; the statements about them are checked against it. What they
speak of is folded into a few numbers per step, so a cell stays small whatever the width.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.data.own import recall
from widenet.data.xord import PATTERNS, pattern_set
from widenet.diagnostics.exploration import cones, negative_sides, on_positive_axis
from widenet.networks.arrays import plus_minus_weights
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.papers.brutzkus2019.formulas import SMALL_NET_STEP, SMALLEST_MARGIN, largest_deviation
from widenet.papers.brutzkus2019.runs.outputs import outputs, responses
from widenet.papers.brutzkus2019.sources import TrainingSet, from_data
from widenet.papers.brutzkus2019.user_data import MOST_RUNS, fixed_by_regime, points_of
from widenet.progress import Progress, over, silent
from widenet.records import ClosedModel, Scale
from widenet.types import Dataset

CHUNK = 128
MAX_STEPS = 64 * CHUNK
Path = Float[np.ndarray, " time run channel 2"]
Series = Float[np.ndarray, " time run"]


class XordSetting(ClosedModel):
    """Networks that descend on diverse points of XORD, or on your own.

    Attributes:
      half_width, step_constant, required_margin: k, c_η (the step is c_η/k) and γ.
      own_data: the digest of your data; without it, six random diverse points of each class.
      diverse_only: keep the diverse points of your data alone, as many of each class.
    """

    half_width: int = 16
    step_constant: float = SMALL_NET_STEP
    required_margin: float = SMALLEST_MARGIN
    n_runs: int = 4
    seed: int = 0
    own_data: str | None = None
    diverse_only: bool = False


@dataclass(frozen=True, eq=False)
class XordRuns:
    """Training points, and networks that start on them.

    Attributes:
      data: a training set of XORD, or your own.
      filters: initial weights, the w's before the u's.
      step_size: η.
      margin: γ.
    """

    data: Dataset
    filters: Float[np.ndarray, "run channel 2"]
    step_size: float
    margin: float

    @property
    def pair(self) -> Float[np.ndarray, "2 dim"] | None:
        """(x⁺, x⁻): the first positive and the first negative point; None where a label, +1 or −1, does not occur."""
        labels = np.asarray(self.data.labels)
        if not np.isin((1.0, -1.0), labels).all():
            return None
        return np.asarray(self.data.inputs)[[int(np.argmax(labels == label)) for label in (1.0, -1.0)]]


@dataclass(frozen=True, eq=False)
class XordDescent(Cases):
    """What the statements about gradient descent read, at every t; without a point of each class there is no t.

    R is the part of N from outside W⁺(1) ∪ W⁺(3) and U⁺(1) ∪ U⁺(3); S and P are the sums over these two.
    """

    points: TrainingSet  #: as the theorems see them, those that were left out too
    n_points: Count  #: how many points
    n_distinct: Count  #: how many different ones
    n_patches: Count  #: d
    half_width: Count  #: k
    step_size: Number  #: η
    margin: Number  #: γ
    lattice_distance: Float[np.ndarray, " run"]  #: the smallest of ⟨w_0, p⟩ from a multiple of 2η, in units of η
    moves: Bool[np.ndarray, " time run"]  #: whether a weight changes in the step from t to t + 1
    positive_output: Series  #: N(x⁺)
    negative_output: Series  #: N(x⁻)
    residual: Float[np.ndarray, " time run 2 2 2"]  #: how far a step is from η(a·p_i − b·p_l), see `_residuals`
    pair_distance: Series  #: the largest difference of a weight from the run on x⁺ and x⁻ alone
    smallest_fit: Series  #: the smallest |⟨w_t, p⟩|, in units of η
    off_lattice: Series  #: the largest distance of ⟨w_t − w_0, p⟩ from a multiple of 2η, in units of 2η
    rest_spread: Series  #: the largest difference of R between points
    s_plus: Series  #: S on x⁺
    p_plus: Series  #: P on x⁺
    s_minus: Series  #: S on x⁻
    p_minus: Series  #: P on x⁻

    @column
    def unfinished(self) -> Bool[np.ndarray, " run"]:
        """The runs that still move when the record ends."""
        return self.moves[-1] if len(self.moves) else np.ones(len(self), bool)

    @column
    def last_update(self) -> int:
        """The number of steps after which nothing moves any more, over all runs."""
        return int(np.flatnonzero(self.moves.any(axis=1)).max(initial=-1)) + 1


def runs_on(
    data: Dataset,
    *,
    half_width: int = 16,
    step_constant: float = SMALL_NET_STEP,
    margin: float = SMALLEST_MARGIN,
    n_runs: int = 4,
    seed: int = 0,
) -> XordRuns:
    """Networks of this width on these training points, with η = c_η/k and the largest σ_g."""
    deviation = largest_deviation(step_constant, half_width)
    filters = np.random.default_rng([seed, half_width]).normal(0, deviation, (n_runs, 2 * half_width, 2))
    return XordRuns(data, filters, step_constant / half_width, margin)


def diverse_points(seed: int) -> Dataset:
    """Random diverse points: every pattern of the class at least once, the rest at random, shuffled."""
    per_class, n_patches = 6, 7
    draw = np.random.default_rng([seed, per_class, n_patches])
    words = [
        draw.permutation(np.concatenate([held, draw.choice(held, n_patches - len(held))]))
        for held in ([0, 1, 2, 3], [1, 3])
        for _ in range(per_class)
    ]
    inputs = PATTERNS[np.array(words)].reshape(2 * per_class, -1)
    return Dataset(jnp.asarray(inputs), jnp.asarray(np.repeat([1.0, -1.0], per_class)))


def diverse_part(data: Dataset) -> Dataset:
    """The diverse points of a data set, as many of each class: what Section 6 can speak about."""
    held, labels = np.asarray(pattern_set(data.inputs)), np.asarray(data.labels)
    positive = np.flatnonzero(held.all(axis=1) & (labels == 1))
    negative = np.flatnonzero((held == [False, True, False, True]).all(axis=1) & (labels == -1))
    size = min(len(positive), len(negative))
    return data[np.concatenate([positive[:size], negative[:size]])]


def xord_part(data: Dataset) -> Dataset:
    """The points of a data set that are XORD's: every entry ±1, and labelled by f*."""
    held, labels = np.asarray(pattern_set(data.inputs)), np.asarray(data.labels)
    right = labels == np.where(held[:, 0] | held[:, 2], 1.0, -1.0)
    return data[np.isin(np.asarray(data.inputs), (-1.0, 1.0)).all(axis=1) & right]


def descend(runs: XordRuns, n_steps: int | None = None) -> Path:
    """The weights at every t; without a number of steps, until nothing has moved for `CHUNK` steps.

    A run that still moves after `MAX_STEPS` is left as it is: its last two weights differ.
    """
    parts = []
    for part in itertools.islice(_parts(runs), MAX_STEPS // CHUNK if n_steps is None else n_steps // CHUNK + 1):
        parts.append(part[:-1])
        if n_steps is None and np.array_equal(part[0], part[-1]):
            break
    return np.concatenate(parts)[: None if n_steps is None else n_steps + 1]


def follow(runs: XordRuns, progress: Progress = silent) -> XordDescent:
    """What `XordDescent` holds about these runs, `CHUNK` steps at a time."""
    start = runs.filters @ PATTERNS[:2].T / (2 * runs.step_size)
    known: dict[str, Any] = {
        "points": from_data(runs.data),
        "n_points": runs.data.n_samples,
        "n_distinct": len(np.unique(np.asarray(runs.data.inputs), axis=0)),
        "n_patches": runs.data.dim // 2,
        "half_width": runs.filters.shape[1] // 2,
        "step_size": runs.step_size,
        "margin": runs.margin,
        "lattice_distance": 2 * np.abs(start - np.round(start)).min(axis=(1, 2)),
    }
    if runs.pair is None:
        nothing = np.zeros((0, len(runs.filters)))
        series: dict[str, Any] = dict.fromkeys(_SERIES, nothing)
        return XordDescent(**known, **series, moves=nothing > 0, residual=np.zeros((*nothing.shape, 2, 2, 2)))
    alone = replace(runs, data=Dataset(jnp.asarray(runs.pair), jnp.asarray([1.0, -1.0])))
    steps = zip(over(range(MAX_STEPS // CHUNK), progress, "steps"), _parts(runs), _parts(alone), strict=False)
    parts = []
    for _, path, path_alone in steps:
        distance = np.abs(path - path_alone).max(axis=(2, 3))[:-1]
        parts.append(observe(path, runs) | {"pair_distance": distance})
        if np.array_equal(path[0], path[-1]):
            break
    joined: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return XordDescent(**known, **joined)


_SERIES = (
    *("positive_output", "negative_output", "pair_distance", "smallest_fit", "off_lattice", "rest_spread"),
    *("s_plus", "p_plus", "s_minus", "p_minus"),
)


def observe(path: Path, runs: XordRuns) -> dict[str, np.ndarray]:
    """The series of `XordDescent` that a path by itself gives, at each of its times but the last."""
    before, found = path[:-1], path[1:] - path[:-1]
    fits, first_fits = before @ PATTERNS[:2].T, runs.filters @ PATTERNS[:2].T
    shifts = (fits - first_fits) / (2 * runs.step_size)
    return {
        "moves": np.any(found != 0, axis=(2, 3)),
        "residual": _residuals(before, found, runs.step_size),
        "smallest_fit": np.abs(fits).min(axis=(2, 3)) / runs.step_size,
        "off_lattice": np.abs(shifts - np.round(shifts)).max(axis=(2, 3)),
        **_sums(before, runs),
    }


def _residuals(before: Path, found: Path, step_size: float) -> Float[np.ndarray, " time run 2 2 2"]:
    """The step that is taken against η(a·p_i − b·p_l), minus that for a u, from the cones and sides of the filters.

    The largest over w's and over u's. Axes after time and run: a and b (0 or 1), then w or u.
    """
    best, side = cones(before) @ PATTERNS, negative_sides(before) @ PATTERNS[1::2]
    votes = plus_minus_weights(before.shape[2] // 2)[:, None]
    residual = np.empty((*before.shape[:2], 2, 2, 2))
    for a, b in itertools.product((0, 1), repeat=2):
        away = np.abs(found - step_size * votes * (a * best - b * side)).max(axis=3)
        residual[:, :, a, b] = np.stack([half.max(axis=2) for half in np.split(away, 2, axis=2)], axis=2)
    return residual


def _sums(before: Path, runs: XordRuns) -> dict[str, Series]:
    """N, S and P on x⁺ and x⁻, and by how much R differs between points."""
    half, is_13 = before.shape[2] // 2, on_positive_axis(before)
    votes = plus_minus_weights(half)
    low, high = np.full(before.shape[:2], np.inf), np.full(before.shape[:2], -np.inf)
    for x in np.unique(np.asarray(runs.data.inputs), axis=0):
        rest = np.where(is_13, 0, responses(before, x) * votes).sum(axis=2)
        low, high = np.minimum(low, rest), np.maximum(high, rest)
    named: dict[str, Series] = {"rest_spread": high - low}
    for name, x in zip(("plus", "minus"), runs.pair if runs.pair is not None else (), strict=True):
        own = np.where(is_13, responses(before, x), 0)
        named |= {f"s_{name}": own[..., :half].sum(axis=2), f"p_{name}": own[..., half:].sum(axis=2)}
        named["positive_output" if name == "plus" else "negative_output"] = outputs(before, x)
    return named


def _parts(runs: XordRuns) -> Iterator[Path]:
    """The weights at t, …, t + `CHUNK`, from t = 0, then from t = `CHUNK`, and so on without end."""
    filters = jnp.asarray(runs.filters)
    data = Dataset(jnp.asarray(runs.data.inputs, jnp.float64), jnp.asarray(runs.data.labels, jnp.float64))
    while True:
        filters, seen = _chunk(filters, data, jnp.asarray(runs.step_size), jnp.asarray(runs.margin))
        yield np.concatenate([seen, filters[None]])


@jax.jit
def _chunk(
    filters: Float[Array, "run channel 2"], data: Dataset, step_size: Float[Array, ""], margin: Float[Array, ""]
) -> tuple[Float[Array, "run channel 2"], Float[Array, "time run channel 2"]]:
    half = filters.shape[1] // 2
    votes = jnp.where(jnp.arange(2 * half) < half, 1.0, -1.0)
    positive = data.labels > 0
    # The loss times the least common multiple of the class sizes: whole numbers cancel exactly where thirds would not.
    sizes = jnp.maximum(jnp.sum(positive), 1), jnp.maximum(jnp.sum(~positive), 1)
    whole = jnp.lcm(*sizes)
    shares = jnp.where(positive, whole // sizes[0], whole // sizes[1])

    def loss(filters):
        values = jax.vmap(ConvMaxPool(filters, votes))(data.inputs)
        slack = jnp.where(positive, margin, 1.0) - data.labels * values
        return jnp.sum(shares * jnp.where(slack > 0, slack, 0.0))

    def step(filters, _):
        return filters - (step_size / whole) * jax.vmap(jax.grad(loss))(filters), filters

    return jax.lax.scan(step, filters, length=CHUNK)


def run_descent(setting: XordSetting, progress: Progress) -> XordDescent:
    """The networks of a setting, trained until nothing moves; points that are not XORD's are counted and left out."""
    data = diverse_points(setting.seed) if setting.own_data is None else recall(setting.own_data)
    training = from_data(data)
    if setting.diverse_only:
        training = training.diverse_part().model_copy(update={"whole": training})
    runs = runs_on(
        diverse_part(data) if setting.diverse_only else xord_part(data),
        half_width=setting.half_width,
        step_constant=setting.step_constant,
        margin=setting.required_margin,
        n_runs=setting.n_runs,
        seed=setting.seed,
    )
    return replace(follow(runs, progress), points=training)


def _settings(scale: Scale, seed: int) -> list[XordSetting]:
    return [XordSetting(seed=seed + number) for number in range(1 if scale is Scale.QUICK else 10)]


def descents_on(user_data: UserData) -> Applied | NotApplicable:
    """Networks of the user's width and γ on the user's points; the step is that of small networks, c_η = 1/41."""
    points, choices = points_of(user_data), user_data.choices
    if isinstance(points, NotApplicable):
        return points
    default = XordSetting()
    setting = XordSetting(
        half_width=choices.n_neurons // 2,
        required_margin=choices.required_margin,
        n_runs=min(choices.n_runs or default.n_runs, MOST_RUNS),
        seed=choices.seed,
        own_data=user_data.digest,
        diverse_only=choices.diverse_only,
    )
    fixed = fixed_by_regime(user_data, setting.half_width, setting.step_constant)
    fixed["max_updates"] = f"runs have up to {MAX_STEPS} steps"
    if (choices.n_runs or 0) > MOST_RUNS:
        fixed["n_runs"] = f"{MOST_RUNS} networks are trained"
    return Applied([setting], user_data.unused(fixed))


descents = Experiment("brutzkus2019.xord_descents", _settings, run_descent, seconds=2.0, on=descents_on)

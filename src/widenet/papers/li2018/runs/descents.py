"""Gradient descent on single points, step by step: one training for all statements about the simplified case."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Count, Number
from widenet.claims.experiments import Experiment
from widenet.claims.statistics import runs_needed
from widenet.claims.user_data import Choices
from widenet.data.points import unit_rows
from widenet.diagnostics.patterns import coupled_share, flip_share
from widenet.diagnostics.spectra import numerical_rank, singular_values
from widenet.papers.li2018.formulas import coupling_time
from widenet.papers.li2018.sources import (
    HEXAGON,
    TOY,
    DataSetting,
    OnData,
    OwnSample,
    Sample,
    SpreadPoints,
    structure_numbers,
)
from widenet.papers.li2018.user_data import on_points
from widenet.progress import Progress
from widenet.records import Scale
from widenet.training.small.softmax import (
    SoftmaxNetwork,
    SoftmaxStep,
    cross_entropies,
    descend,
    gradient,
    start_softmax,
    wrong_mass,
)

PerStep = Float[np.ndarray, " step"]
PerThreshold = Float[np.ndarray, " threshold"]


class DescentSetting(DataSetting):
    """A start of this width, η = scaled_step/m, and thresholds τ/σ at which coupling is followed, if any.

    `start_scale` multiplies the initial weights; `n_fresh` is how many points outside the data are followed.
    """

    width: int = 2000
    scaled_step: float = 2.0
    n_steps: int = 200
    thresholds: tuple[float, ...] = ()
    start_scale: float = 1.0
    n_fresh: int = 0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class PointDescent(OnData):
    """A descent, step by step, the last state included; at thresholds τ, as far as coupling is promised there."""

    losses: PerStep
    squares: PerStep  #: Σ_r ‖∂L/∂w_r‖²
    residuals: PerStep  #: v_max
    moves: PerStep  #: max_r ‖w_r − w_r⁰‖
    paths: PerStep  #: max_r Σ η‖∂L/∂w_r‖ so far
    distances: PerStep  #: ‖W − W⁰‖/‖W⁰‖
    coupled: PerStep  #: the share of neurons with all gates of the start
    flips: PerStep  #: the share of changed (neuron, point) pairs
    still: PerStep  #: whether no gate changed in the step from here (NaN at the end)
    thresholds: PerThreshold  #: τ/σ
    limits: PerThreshold  #: floor(τ/(2·max|a|·η)), the last step that is promised
    clear: PerThreshold  #: |H|/m
    lost: PerThreshold  #: neurons of H that changed a gate by then
    unequal: PerThreshold  #: coupled neurons whose gradient was not the pseudo gradient
    least_coupled: PerThreshold  #: the smallest share of coupled neurons by then
    fresh: Float[np.ndarray, "threshold point"]  #: the least share with the gate of the start and |⟨w, x⟩| ≥ τ
    rank: Count
    data_rank: Count
    update_norm: Number
    spectrum_shift: Number
    width: Count
    step_size: Number
    start_scale: Number
    largest_vote: Number
    vote_norm: Number
    n_components: Count
    total: Number  #: |Σp − 1|
    own: bool | np.ndarray  #: whether it is a reader's data, of which nobody knows how wide is wide enough


class _Coupling:
    """What is followed at thresholds."""

    def __init__(self, start: SoftmaxNetwork, sample: Sample, setting: DescentSetting, fresh: np.ndarray):
        self.start, self.sample, self.fresh = start, sample, fresh
        size = setting.start_scale * setting.width**-0.5
        self.levels = np.array(setting.thresholds) * size
        eta = setting.scaled_step / setting.width
        self.limits = np.array([np.floor(coupling_time(level, start.largest_vote, eta)) for level in self.levels])
        products = start.preactivations(sample.points)
        self.first, self.first_fresh = products >= 0, start.preactivations(fresh) >= 0
        self.clear = np.abs(products).min(axis=0) >= self.levels[:, None]
        self.lost = np.zeros(self.clear.shape, bool)
        self.unequal = np.zeros(len(self.levels))
        self.least = np.ones(len(self.levels))
        self.kept = np.ones((len(self.levels), len(fresh)))

    def see(self, step: SoftmaxStep) -> None:
        """A state of the descent; states after all limits are not looked at."""
        promised = step.number <= self.limits
        if not promised.any():
            return
        same = ((step.preactivations >= 0) == self.first).all(axis=0)
        sample = self.sample
        pseudo = gradient(
            step.network, sample.points, sample.classes, sample.shares, gates=self.first, logits=step.logits
        )
        differs = (np.abs(pseudo - step.gradient) > 1e-15).any(axis=1)
        self.lost |= promised[:, None] & self.clear & ~same
        self.unequal += promised * float((same & differs).sum())
        self.least = np.where(promised, np.minimum(self.least, same.mean()), self.least)
        z = step.network.preactivations(self.fresh)
        gates = (z >= 0) == self.first_fresh
        shares = np.stack([(gates & (np.abs(z) >= level)).mean(axis=1) for level in self.levels]).reshape(
            self.kept.shape
        )
        self.kept = np.where(promised[:, None], np.minimum(self.kept, shares), self.kept)


def follow(
    steps: Iterator[SoftmaxStep], start: SoftmaxNetwork, sample: Sample, setting: DescentSetting
) -> PointDescent:
    """Write down a descent."""
    fresh = unit_rows(np.random.default_rng([setting.seed, 31]), max(1, setting.n_fresh), start.hidden.shape[1])
    coupling = _Coupling(start, sample, setting, fresh[: setting.n_fresh])
    kept: dict[str, list[float]] = {name: [] for name in PER_STEP}
    norm, last, first = float(np.linalg.norm(start.hidden)), start, start.preactivations(sample.points)
    before, path, eta = first, np.zeros(len(start.hidden)), setting.scaled_step / setting.width
    for step in steps:
        change = step.network.hidden - start.hidden
        z = step.preactivations
        if step.number > 0:
            kept["still"].append(float(((before >= 0) == (z >= 0)).all()))
        wrong = wrong_mass(step.logits, sample.classes)
        kept["losses"].append(float(sample.shares @ cross_entropies(step.logits, sample.classes)))
        kept["squares"].append(float((step.gradient**2).sum()))
        kept["residuals"].append(sample.residual_max(wrong))
        kept["moves"].append(float(np.sqrt((change**2).sum(axis=1).max())))
        kept["paths"].append(float(path.max()))
        path = path + eta * np.linalg.norm(step.gradient, axis=1)
        kept["distances"].append(float(np.linalg.norm(change)) / norm)
        kept["coupled"].append(coupled_share(first, z))
        kept["flips"].append(flip_share(first, z))
        coupling.see(step)
        before, last = z, step.network
    kept["still"].append(np.nan)
    update = last.hidden - start.hidden
    values = singular_values(update)
    structure = sample.measured()
    shift = np.abs(singular_values(last.hidden) - singular_values(start.hidden)).max()
    return PointDescent(
        **{name: np.array(each) for name, each in kept.items()},
        thresholds=np.array(setting.thresholds),
        limits=coupling.limits,
        clear=coupling.clear.mean(axis=1),
        lost=coupling.lost.sum(axis=1).astype(np.float64),
        unequal=coupling.unequal,
        least_coupled=coupling.least,
        fresh=coupling.kept,
        rank=numerical_rank(values),
        data_rank=int(np.linalg.matrix_rank(sample.points)),
        update_norm=float(values.max()),
        spectrum_shift=float(shift),
        width=setting.width,
        step_size=setting.scaled_step / setting.width,
        start_scale=setting.start_scale,
        largest_vote=start.largest_vote,
        vote_norm=float(np.linalg.norm(start.votes, 2)),
        n_components=sample.n_components,
        **structure_numbers(structure),
        norm_error=sample.norm_error,
        total=abs(float(sample.shares.sum()) - 1),
        own=isinstance(setting.data, OwnSample),
    )


PER_STEP = [field.name for field in dataclasses.fields(PointDescent) if field.type is PerStep]


def run_descent(setting: DescentSetting, progress: Progress) -> PointDescent:
    """Draw the points and the start of a setting, and descend."""
    sample = setting.data.draw(setting.seed)
    deviation = setting.start_scale * setting.width**-0.5
    padding = setting.data.padding if isinstance(setting.data, SpreadPoints) else 0
    draw, dim = np.random.default_rng([setting.seed, 30]), sample.points.shape[1] - padding
    start = start_softmax(draw, setting.width, dim, sample.n_classes, deviation=deviation)
    # Coordinates that the data does not use are drawn last, so that the others are those of a start without them.
    more = deviation * draw.normal(size=(setting.width, padding))
    start = SoftmaxNetwork(np.concatenate([start.hidden, more], axis=1), start.votes)
    eta = setting.scaled_step / setting.width
    found = follow(
        descend(start, sample.points, sample.classes, sample.shares, eta, setting.n_steps), start, sample, setting
    )
    progress(1.0, "gradient descent on points")
    return found


WIDTHS = (500, 2000, 8000)


def coupled_settings(scale: Scale, seed: int) -> list[DescentSetting]:
    """Steps so small that coupling is promised for some forty of them."""
    width, count = (8000, 2) if scale is Scale.QUICK else (20_000, 10)
    return [
        DescentSetting(
            data=TOY,
            width=width,
            scaled_step=0.02,
            n_steps=44,
            thresholds=(0.02, 0.05),
            n_fresh=20,
            seed=1000 * seed + number,
        )
        for number in range(count)
    ]


RARE = 0.05
"""Of starts, the share whose failure many starts should exclude. Ours: the paper says "with high probability"."""


def start_settings(scale: Scale, seed: int) -> list[DescentSetting]:
    """These, and enough narrower starts, each on points of its own, to exclude that `RARE` of them fail."""
    wide = coupled_settings(scale, seed)
    return wide + [
        wide[0].model_copy(update={"width": 2000, "seed": 1000 * seed + len(wide) + number})
        for number in range(runs_needed(RARE))
    ]


def width_settings(scale: Scale, seed: int) -> list[DescentSetting]:
    """Several widths with η = 2/m and five seeds each; as many steps as Lemma A.4 averages over."""
    widths, seeds = (WIDTHS, 5) if scale is Scale.QUICK else ((*WIDTHS, 32_000), 10)
    return [
        DescentSetting(data=TOY, width=width, n_steps=max(260, averaged_steps(width)), seed=1000 * seed + number)
        for width in widths
        for number in range(seeds)
    ]


def hexagon_widths(scale: Scale, seed: int) -> list[DescentSetting]:
    """The antipodal hexagon at three widths, two starts each."""
    return [
        DescentSetting(data=HEXAGON, width=width, n_steps=averaged_steps(width), seed=1000 * seed + number)
        for width in (125, 500, 2000)
        for number in range(2)
    ]


def averaged_steps(width: int) -> int:
    """T = 100·√(m/500): proportional to σ/η."""
    return round(100 * (width / 500) ** 0.5)


def scale_settings(scale: Scale, seed: int) -> list[DescentSetting]:
    """Initial weights a tenth and ten times as large, and as they are."""
    seeds = 3 if scale is Scale.QUICK else 10
    return [
        DescentSetting(data=TOY, n_steps=200, start_scale=size, seed=1000 * seed + number)
        for size in (0.1, 1.0, 10.0)
        for number in range(seeds)
    ]


def dimension_settings(scale: Scale, seed: int) -> list[DescentSetting]:
    """Starts in 20 dimensions; the same with 180 more that the data does not use; and others with 380 more."""
    count = 12 if scale is Scale.QUICK else 40
    return [
        DescentSetting(
            data=SpreadPoints(padding=padding),
            width=200,
            scaled_step=4.0,
            n_steps=400,
            seed=2000 * seed + later + number,
        )
        for padding, later in ((0, 0), (180, 0), (380, 1000))
        for number in range(count)
    ]


MOST_DESCENTS = 3


@on_points(most=300, single=True, most_runs=MOST_DESCENTS)
def own_descents(data: OwnSample, choices: Choices) -> list[DescentSetting]:
    """Steps so small that coupling is promised for some of them, at your width or m = 500."""
    return [
        DescentSetting(
            data=data,
            width=choices.chosen("n_neurons") or 500,
            scaled_step=0.02,
            n_steps=15,
            thresholds=(0.05, 0.1),
            n_fresh=5,
            seed=choices.seed + number,
        )
        for number in range(min(MOST_DESCENTS, choices.n_runs or 2))
    ]


@on_points(most=150, single=True)
def own_widths(data: OwnSample, choices: Choices) -> list[DescentSetting] | NotApplicable:
    """Three widths, three starts each."""
    n_steps, allowed = 200, choices.max_updates
    if allowed is not None and allowed < n_steps:
        return NotApplicable(f"It needs {n_steps} steps at each width, and max_updates allows {allowed}.")
    return [
        DescentSetting(data=data, width=width, n_steps=n_steps, seed=choices.seed + number)
        for width in (64, 256, 1024)
        for number in range(3)
    ]


descents = Experiment("li2018.descents", width_settings, run_descent, seconds=1.0)
descents_at_widths = dataclasses.replace(descents, on=own_widths)
coupled_descents = dataclasses.replace(descents, settings=coupled_settings, on=own_descents)
coupled_starts = coupled_descents.at(start_settings)

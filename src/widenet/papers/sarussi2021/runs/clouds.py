"""Networks whose neurons lie in two balls, and what they say about points: the material of Sections 5 and 10."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Number
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import Order, UserData
from widenet.data.sources import OwnPoints
from widenet.diagnostics.sign_clusters import cluster_radius
from widenet.losses import logistic
from widenet.papers.sarussi2021.runs.adversary import worst_point
from widenet.papers.sarussi2021.runs.problems import SgdSetting, draw_problem
from widenet.papers.sarussi2021.sources import EpochOrder, PointsSource, SignedNetwork, SmallCloud, lengths, split
from widenet.papers.sarussi2021.user_data import epoch_order, epochs_allowed, reason_in_training
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale
from widenet.training.small import train_small

SLOPES = (0.01, 0.1, 0.3, 0.7, 0.95)
Pairs = Float[np.ndarray, " pair"]


class CloudSetting(ClosedModel):
    """Where networks and points come from.

    Attributes:
      points: networks are trained on these, and asked about them, about random directions and about the worst one
        that a search finds, after every n updates; None draws networks at random, rows around two centres.
      most_epochs: of training, fewer where there are many points; n_runs: networks trained from each start.
      row_length: of every row at the start, in place of small and large deviations.
      output_weight, order: of the training, as in `SgdSetting`.
      lifted: a coordinate that is always 1 is appended to the points, so that the last entry of a row is a bias.
    """

    points: PointsSource | None = None
    n_networks: int = 600
    n_points: int = 100
    lifted: bool = False
    half_width: int = 5
    slope: float = 0.3
    step_size: float = 0.1
    most_epochs: int = 40
    n_runs: int = 1
    row_length: float | None = None
    output_weight: float | None = None
    order: EpochOrder = Order.PERMUTATION
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Clouds(Cases):
    """Pairs of a network and a point; v = 1 everywhere, since it scales the output only."""

    rows: ClassVar = "pair"

    plus_mean: Pairs  #: w̄·x
    minus_mean: Pairs  #: ū·x
    norms: Pairs  #: ‖x‖
    differences: Pairs  #: ‖w̄ − ū‖
    plus_radius: Pairs  #: the radius of the ball of the plus rows
    minus_radius: Pairs  #: and of the minus rows
    plus_distance: Pairs  #: how far a plus row really is from their mean
    minus_distance: Pairs  #: and a minus row
    plus_low: Pairs  #: the smallest w·x
    plus_high: Pairs  #: the largest
    minus_low: Pairs  #: the smallest u·x
    minus_high: Pairs  #: the largest
    plus_sum: Pairs  #: Σσ(w·x)
    minus_sum: Pairs  #: Σσ(u·x)
    outputs: Pairs  #: N(x)
    scales: Pairs  #: (Σ‖w‖ + Σ‖u‖)‖x‖, which rounding of N is measured against
    slope: Pairs  #: α
    half_width: Int[np.ndarray, " pair"]  #: k

    @property
    def radius(self) -> Pairs:
        """r, the larger of the two radii."""
        return np.maximum(self.plus_radius, self.minus_radius)

    @property
    def difference(self) -> Pairs:
        """(w̄ − ū)·x."""
        return self.plus_mean - self.minus_mean

    @staticmethod
    def joined(parts: "Sequence[Clouds]") -> "Clouds":
        """All pairs in turn."""
        names = [field.name for field in dataclasses.fields(Clouds)]
        return Clouds(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def ask(network: SignedNetwork, points: Float[np.ndarray, "point dim"]) -> Clouds:
    """One network about many points."""
    plus, minus = points @ network.plus.T, points @ network.minus.T
    plus_mean, minus_mean = network.plus.mean(axis=0), network.minus.mean(axis=0)
    radii = float(cluster_radius(network.plus)), float(cluster_radius(network.minus))
    activated = network.activated(plus), network.activated(minus)
    sums = activated[0].sum(axis=1), activated[1].sum(axis=1)
    one = np.ones(len(points))
    return Clouds(
        plus_mean=points @ plus_mean,
        minus_mean=points @ minus_mean,
        norms=lengths(points),
        differences=float(np.linalg.norm(plus_mean - minus_mean)) * one,
        plus_radius=radii[0] * one,
        minus_radius=radii[1] * one,
        plus_distance=radii[0] * one,
        minus_distance=radii[1] * one,
        plus_low=plus.min(axis=1),
        plus_high=plus.max(axis=1),
        minus_low=minus.min(axis=1),
        minus_high=minus.max(axis=1),
        plus_sum=sums[0],
        minus_sum=sums[1],
        outputs=sums[0] - sums[1],
        scales=(lengths(network.plus).sum() + lengths(network.minus).sum()) * lengths(points),
        slope=network.slope * one,
        half_width=np.full(len(points), network.half_width),
    )


@dataclass(frozen=True, eq=False)
class PairInBall(Clouds):
    """A network and a point with the radius that a printed statement is given."""

    printed_radius: Number
    network: SignedNetwork
    point: Float[np.ndarray, " dim"]

    @property
    def printed_share(self) -> np.ndarray:
        """How far a row is from its mean, by that radius."""
        return np.maximum(self.plus_distance, self.minus_distance) / self.printed_radius


def one_pair(network: SignedNetwork, point: np.ndarray, radius: float) -> PairInBall:
    """What the network says about the point."""
    return PairInBall(**vars(ask(network, point[None])), printed_radius=radius, network=network, point=point)


def draw_closed_ball(scale: Scale, seed: int) -> PairInBall:
    """w = 0 and 2e₁: the mean is e₁, both rows lie at distance 1, and one of them does not see x = e₁."""
    rows = np.array([[0.0, 0.0], [2.0, 0.0]])
    return one_pair(SignedNetwork(rows, -rows, 1.0, 0.5), np.array([1.0, 0.0]), 1.0)


def random_network(draw: np.random.Generator) -> SignedNetwork:
    """Rows around two centres, from tight to loose, one ball often tighter than the other."""
    k, dim = int(draw.integers(1, 9)), int(draw.integers(1, 7))
    centres = draw.normal(size=(2, dim)) * draw.choice([0.1, 1.0, 3.0], size=(2, 1))
    spreads = draw.choice([0.0, 0.1, 0.5, 1.0], size=2)
    rows = [centre + spread * draw.normal(size=(k, dim)) for centre, spread in zip(centres, spreads, strict=True)]
    return SignedNetwork(rows[0], rows[1], 1.0, float(draw.choice(SLOPES)))


def run_clouds(setting: CloudSetting, progress: Progress) -> Clouds:
    """Ask the networks of a setting."""
    if setting.points is not None:
        return _trained(setting, setting.points, progress)
    draw = np.random.default_rng([setting.seed, 10])
    asked = []
    for _ in over(range(setting.n_networks), progress, "random networks"):
        network = random_network(draw)
        points = draw.normal(size=(setting.n_points, network.plus.shape[1])) * draw.choice([1e-3, 1.0, 50.0])
        if setting.lifted:
            points[:, -1] = 1.0
        if not setting.lifted:
            points = np.concatenate([points, worst_point(network, draw)[None]])
        asked.append(ask(network, points))
    return Clouds.joined(asked)


def _trained(setting: CloudSetting, points: PointsSource, progress: Progress) -> Clouds:
    """Networks after every n updates of SGD, an epoch as long as every point pulls, from small and large weights."""
    trained = SgdSetting(
        points=points,
        deviations=(1e-3, 1.0) if setting.row_length is None else (1.0,),
        row_length=setting.row_length,
        n_runs=setting.n_runs,
        half_width=setting.half_width,
        slope=setting.slope,
        step_size=setting.step_size,
        output_weight=setting.output_weight,
        order=setting.order,
        seed=setting.seed,
    )
    problem = draw_problem(trained)
    networks, order, asked = problem.networks, problem.order(), []
    draw = np.random.default_rng([setting.seed, 11])
    n_epochs = min(setting.most_epochs, max(2, 4000 // problem.n_samples))
    for _ in over(range(n_epochs), progress, "epochs of SGD"):
        networks = train_small(
            networks,
            problem.inputs,
            problem.labels,
            step_size=problem.step_size,
            max_updates=problem.n_samples,
            order=order,
            loss=logistic,
        ).networks
        for rows, inputs in zip(networks.hidden, problem.inputs, strict=True):
            network = split(rows, 1.0, setting.slope)
            far = draw.normal(size=(setting.n_points, inputs.shape[1]))
            asked.append(ask(network, np.concatenate([inputs, far, worst_point(network, draw)[None]])))
    return Clouds.joined(asked)


def cloud_settings(scale: Scale, seed: int) -> list[CloudSetting]:
    """Random networks, and networks in training."""
    networks, points = (600, 100) if scale is Scale.QUICK else (2000, 200)
    return [
        CloudSetting(n_networks=networks, n_points=points, seed=seed),
        CloudSetting(points=SmallCloud(), n_points=points, seed=seed),
    ]


def lifted_settings(scale: Scale, seed: int) -> list[CloudSetting]:
    """Random networks with biases."""
    return [CloudSetting(n_networks=300, lifted=True, seed=seed)]


def clouds_on(user_data: UserData) -> list[CloudSetting] | NotApplicable:
    """Networks trained on the reader's data, asked about it and about random directions."""
    if (reason := reason_in_training(user_data)) is not None:
        return reason
    chosen = user_data.choices
    return [
        CloudSetting(
            points=OwnPoints(own_data=user_data.digest),
            half_width=chosen.n_neurons // 2,
            slope=chosen.slope,
            step_size=chosen.step_size,
            most_epochs=epochs_allowed(user_data, 40),
            n_runs=chosen.n_runs or 1,
            row_length=chosen.init_scale,
            output_weight=chosen.output_weight,
            order=epoch_order(user_data),
            seed=chosen.seed,
        )
    ]


clouds = Experiment("sarussi2021.clouds", cloud_settings, run_clouds, seconds=1.0, on=clouds_on)
# The sharp constants need networks of even and of odd width, and points with biases are not those of your data.
drawn_clouds = Experiment("sarussi2021.clouds", cloud_settings, run_clouds)
lifted_clouds = Experiment("sarussi2021.clouds", lifted_settings, run_clouds, seconds=0.1)

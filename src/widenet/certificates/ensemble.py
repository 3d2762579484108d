"""What really happens: many networks of one kind, trained on most of your points and tried on the others."""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from widenet.claims.experiments import Experiment
from widenet.data.own import recall
from widenet.losses import hinge, multiclass_hinge, zero_one
from widenet.networks.activations import leaky_relu
from widenet.networks.two_layer import TwoLayer, make_two_layer
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import SGD
from widenet.training.ensemble import ensemble
from widenet.training.recipe import Recipe
from widenet.training.record import Record, Snapshot
from widenet.types import Dataset, RunKey, RunStatus

KEPT_NETWORKS = 4
"""So many networks are kept whole, for pictures."""
LOOKS, LARGE = 24, 10**6
HELD_OUT = 0.2


class EnsembleSetting(ClosedModel):
    """Networks N(x) = Σ ±v σ(⟨w, x⟩) with a Leaky ReLU, trained by SGD with the hinge loss, one point per step.

    Attributes:
      own_data: the digest of your points.
      n_classes: 2 for labels −1 and +1.
      n_runs: how many networks; each has its own start and its own order of the points.
      init_scale: R, the length of each row of weights at the start; v is 1/√(neurons).
      max_epochs: passes over the data after which a run is cut off.
      dtype: "float32" or "float64".
      seed: of the held-out points, the starts and the orders.
    """

    own_data: str
    n_classes: int
    n_runs: int
    n_neurons: int
    slope: float
    step_size: float
    init_scale: float
    max_epochs: int
    dtype: str = "float32"
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Ensemble:
    """What the networks did.

    Attributes:
      held_out: which points were not trained on.
      status: a `RunStatus` per run.
      updates, steps: non-zero updates, and all steps.
      loss: the training loss at the end.
      train_error, test_error: shares of points on the wrong side at the end.
      class_errors: the same of the held-out points of each class; NaN for a class without one.
      epochs: when the networks were looked at.
      train_curve, test_curve, loss_curve: both errors and the training loss at those times.
      flipped: the share of (neuron, training point) pairs whose sign is not that of the start, in the networks kept.
      least_margin: the smallest y N(x) over the training points, as far as it lies below 1.
      hidden, start, output: the weights of the first few networks, and before training.
    """

    setting: EnsembleSetting
    held_out: Bool[np.ndarray, " sample"]
    status: Int[np.ndarray, " run"]
    updates: Int[np.ndarray, " run"]
    steps: Int[np.ndarray, " run"]
    loss: Float[np.ndarray, " run"]
    train_error: Float[np.ndarray, " run"]
    test_error: Float[np.ndarray, " run"]
    class_errors: Float[np.ndarray, "run class"]
    epochs: Float[np.ndarray, " look"]
    train_curve: Float[np.ndarray, "run look"]
    test_curve: Float[np.ndarray, "run look"]
    loss_curve: Float[np.ndarray, "run look"]
    flipped: Float[np.ndarray, " kept"]
    least_margin: Float[np.ndarray, " run"]
    hidden: Float[np.ndarray, "kept neuron dim"]
    start: Float[np.ndarray, "kept neuron dim"]
    output: np.ndarray

    @property
    def fitted(self) -> Bool[np.ndarray, " run"]:
        """Which runs reached loss 0."""
        return self.status == RunStatus.CONVERGED


def run_ensemble(setting: EnsembleSetting, progress: Progress) -> Ensemble:
    """Train all networks on the points that are not held out, until the loss is 0 or the epochs are spent."""
    whole = recall(setting.own_data)
    held_out = held_out_points(np.asarray(whole.labels), setting.seed)
    data = Dataset(jnp.asarray(whole.inputs, setting.dtype), jnp.asarray(whole.labels, setting.dtype))
    train, rest = data[~held_out], data[held_out]
    # A run's keys are its own: the first runs are the same however many there are.
    runs = jax.vmap(functools.partial(jax.random.fold_in, jax.random.key(setting.seed)))(jnp.arange(setting.n_runs))
    keys = jax.vmap(jax.random.split)(runs)
    networks = jax.vmap(functools.partial(make_network, setting, dim=whole.dim))(keys[:, 0])
    loss = hinge if setting.n_classes == 2 else multiclass_hinge

    def seen(now: Snapshot) -> Float[Array, "4"]:
        outputs, others = jax.vmap(now.network)(now.data.inputs), jax.vmap(now.network)(rest.inputs)
        losses = loss(outputs, now.data.labels)
        return jnp.stack(
            [
                zero_one(outputs, now.data.labels).mean(),
                zero_one(others, rest.labels).mean() if rest.n_samples else jnp.full((), jnp.nan, losses.dtype),
                losses.mean(),
                1 - losses.max(),
            ]
        )

    n = train.n_samples
    times = tuple(int(epoch) * n for epoch in looked_at(setting.max_epochs, n * whole.dim))
    recipe = Recipe(loss, SGD(setting.step_size), setting.max_epochs * n, check_every=max(n, 200))
    done = ensemble(networks, train, recipe, keys[:, 1], record=Record(times, {"seen": seen}), progress=progress)
    looks = np.asarray(done.records["seen"], np.float64)
    last = min(int(np.searchsorted(times, int(np.max(done.steps)))) + 1, len(times))
    kept, inputs = min(KEPT_NETWORKS, setting.n_runs), np.asarray(train.inputs, np.float64)
    rows = [
        (np.asarray(done.network.hidden_weights[run], np.float64), np.asarray(networks.hidden_weights[run], np.float64))
        for run in range(kept)
    ]
    return Ensemble(
        setting=setting,
        held_out=held_out,
        status=np.asarray(done.status, np.int64),
        updates=np.asarray(done.updates, np.int64),
        steps=np.asarray(done.steps, np.int64),
        loss=np.asarray(done.loss, np.float64),
        train_error=looks[:, -1, 0],
        test_error=looks[:, -1, 1],
        class_errors=errors_by_class(done.network, rest, np.unique(np.asarray(whole.labels))),
        epochs=np.asarray(times[:last], np.float64) / n,
        train_curve=looks[:, :last, 0],
        test_curve=looks[:, :last, 1],
        loss_curve=looks[:, :last, 2],
        flipped=np.array([np.mean((inputs @ new.T > 0) != (inputs @ old.T > 0)) for new, old in rows]),
        least_margin=looks[:, -1, 3],
        hidden=np.stack([new for new, _ in rows]),
        start=np.stack([old for _, old in rows]),
        output=np.asarray(done.network.output_weights[:kept], np.float64),
    )


def errors_by_class(
    networks: TwoLayer, points: Dataset, kinds: Float[np.ndarray, " class"]
) -> Float[np.ndarray, "run class"]:
    """Of each network, the share of the points of each class that it gets wrong; NaN for a class without points."""

    def wrong_of(network: TwoLayer) -> Float[Array, " sample"]:
        return zero_one(jax.vmap(network)(points.inputs), points.labels)

    wrong = np.asarray(jax.lax.map(wrong_of, networks), np.float64)
    own = [np.asarray(points.labels) == kind for kind in kinds]
    shares = [wrong[:, kind].mean(axis=1) if kind.any() else np.full(len(wrong), np.nan) for kind in own]
    return np.stack(shares, axis=1)


def make_network(setting: EnsembleSetting, key: RunKey, dim: int) -> TwoLayer:
    """Rows on a sphere; half of the neurons vote for a class and half against it."""
    return make_two_layer(
        key,
        setting.n_neurons,
        dim,
        leaky_relu(setting.slope),
        radius=setting.init_scale,
        n_outputs=None if setting.n_classes == 2 else setting.n_classes,
        dtype=jnp.dtype(setting.dtype),
    )


def held_out_points(labels: Float[np.ndarray, " sample"], seed: int) -> Bool[np.ndarray, " sample"]:
    """A fifth of every class, drawn at random; of a class with fewer than three points, none."""
    draw, held = np.random.default_rng([seed, 11]), np.zeros(len(labels), bool)
    for kind in np.unique(labels):
        own = np.flatnonzero(labels == kind)
        if len(own) >= 3:
            held[draw.choice(own, max(1, round(HELD_OUT * len(own))), replace=False)] = True
    return held


def looked_at(max_epochs: int, numbers: int) -> list[int]:
    """The epochs at which networks are looked at: fewer of them on large data, where a look costs as much as one."""
    looks = LOOKS if numbers < LARGE else LOOKS // 3
    return [0, *np.unique(np.geomspace(1, max_epochs, looks).round().astype(int)).tolist()]


def _no_settings(scale: Scale, seed: int) -> tuple[EnsembleSetting, ...]:
    return ()


networks = Experiment("certificate.networks", _no_settings, run_ensemble, seconds=10.0)

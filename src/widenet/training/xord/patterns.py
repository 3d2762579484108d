"""Exact gradient descent on XORD (brutzkus2019) by pattern sets: d and the number of points do not matter.

Two facts make it small. A point acts only through its pattern set, so a training set is 15 multiplicities. And a filter
acts only through its fits s = ⟨w, p₁⟩ and r = ⟨w, p₂⟩: of the patterns of a set it sees the larger of its two positive
fits, so its response on a set A is (M − m)·[a ∈ A] + m·[a ∈ A or b ∈ A], where a and b are its best and second pattern
and M ≥ m their fits. Summed over filters this gives eight numbers (one per pattern, one per pair of neighbours), and
the 15 outputs are sums of those. `widenet.training.xord.program` holds the program.

Sums are exact, whatever their order, once weights and steps are multiples of `GRID` (see `on_grid`). It matters: where
the loss goes round in a cycle, "no improvement for 20 iterations" is otherwise decided by rounding errors.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from widenet.data.xord import SET_LABELS
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.progress import Progress, silent
from widenet.training.engine.memory import cores
from widenet.training.engine.threads import SharedProgress, in_threads
from widenet.training.engine.validation import whole
from widenet.training.xord.cycles import LARGEST
from widenet.training.xord.program import NEVER, Outcome, Queue, train_queue
from widenet.types import RunStatus

GRID = 2.0**-44
"""Multiples of this below 512 add and subtract without rounding in float64."""

MANY_STEPS = 3000
"""Leaps are chosen from this many expected steps on: with fewer, finding a cycle costs more than it saves."""

MANY_IN_ALL = 4_000_000
"""And from this many on over all runs: compiling the leaping program takes seconds, too."""


class PatternTrajectory(eqx.Module):
    """What training on pattern sets leaves behind; every array has a leading run axis.

    Attributes:
      network: the network after the last step.
      status: one `RunStatus` per run. CONVERGED: zero loss, or `patience` spent while the weights still moved. STALLED:
        the update is exactly zero at positive loss. BUDGET_SPENT, DIVERGED as everywhere.
      steps: gradient steps until the run was stopped, those without effect included.
      zero_error_step: the first step count at which every training point has the right sign; -1 if never.
      zero_loss_step: the first step count at which the loss is exactly 0; -1 if never.
      loss: ℓ at the end, the sum of the mean losses of the two classes.
      train_error: the share of training points with the wrong sign at the end (an output of 0 or NaN is wrong).
      outputs: N on the 15 pattern sets at the end, in the order of `widenet.data.xord.PATTERN_SETS`.
    """

    network: ConvMaxPool
    status: Int[np.ndarray, " run"]
    steps: Int[np.ndarray, " run"]
    zero_error_step: Int[np.ndarray, " run"]
    zero_loss_step: Int[np.ndarray, " run"]
    loss: Float[np.ndarray, " run"]
    train_error: Float[np.ndarray, " run"]
    outputs: Float[np.ndarray, "run 15"]

    def count(self, status: RunStatus) -> int:
        """How many runs ended with this status."""
        return int(np.sum(self.status == status))


def train_patterns(
    networks: ConvMaxPool,
    counts: Int[Array, "run 15"] | Int[np.ndarray, "run 15"],
    step_size: float | Float[Array, " run"] | Float[np.ndarray, " run"],
    *,
    margin: float | Float[Array, " run"] | Float[np.ndarray, " run"] = 1.0,
    max_steps: int = 30_000,
    patience: int | None = 20,
    workers: int | None = None,
    leap: bool | None = None,
    progress: Progress = silent,
) -> PatternTrajectory:
    """Full-batch gradient descent on ℓ = (1/m₊) Σ₊ max(γ − N, 0) + (1/m₋) Σ₋ max(1 + N, 0), filters only.

    A loss term moves the weights where it is positive. The network's own conventions hold at kinks and ties.

    Main arguments:
      networks: filters with a leading run axis and float64 entries; the second layer is +1 for the first half of the
        channels and −1 for the other.
      counts: how many training points of each run have each pattern set (`widenet.data.xord.count_sets`).
      step_size: η, one number or one per run.

    Other arguments:
      margin: γ, what is asked of positive points, one number or one per run.
      max_steps: the budget.
      patience: stop after this many steps without a new best loss, as in the experiments of the paper; the last
        weights are kept. None: stop once the update is exactly zero, as in its theorems.
      workers: threads, by default one per core on a CPU. It never changes a result.
      leap: whether runs on the grid (see `on_grid`) leap over cycles (see `cycles`), with the same bits at the
        end. None: where in every run the points of a class have one pattern set, as in the theorems, and the
        expected steps (γ + 1)/(ηk) reach `MANY_STEPS` per run, within the budget, and `MANY_IN_ALL` over all runs.
        Runs off the grid always go step by step.
      progress: told the fraction done.
    """
    counts = np.asarray(counts)
    n_runs = _validate(networks, counts)
    etas, gammas = _per_run("step_size", step_size, n_runs), _per_run("margin", margin, n_runs)
    max_steps = whole("max_steps", max_steps, 1, 2**30 - 1)
    limit = NEVER if patience is None else min(whole("patience (or None)", patience, 1), max_steps + 1)
    if workers is None:
        workers = cores() if jax.default_backend() == "cpu" else 1
    workers = min(whole("workers", workers, 1), n_runs)
    weights, total = class_weights(counts)
    filters, units = np.asarray(networks.filters), etas / total
    margins = np.where(SET_LABELS > 0, gammas[:, None], 1.0)
    exact = _on_grid(filters).all(axis=(1, 2)) & _on_grid(margins).all(axis=1) & _on_grid(units)
    queue = Queue(filters, weights, margins, units, exact)
    if leap is None:
        half_width = filters.shape[1] // 2
        few_sets = ((counts > 0) @ np.stack([SET_LABELS > 0, SET_LABELS < 0], axis=1).astype(int) <= 1).all(axis=1)
        with np.errstate(over="ignore"):  # a pace too large for a float is infinite, and so rightly leaves few steps
            distance, pace = gammas + 1, etas * half_width
            many = distance >= MANY_STEPS * pace
            much_in_all = distance.sum() >= MANY_IN_ALL * pace.max()
        leap = bool(max_steps >= MANY_STEPS and much_in_all and (exact & many & few_sets).all())
    shared = SharedProgress(progress, n_runs)

    def train_share(first: int) -> Outcome:
        share = jax.tree.map(lambda leaf: leaf[first::workers], queue)
        told, size, done = shared.of(first, len(share.units)), len(share.units), 0

        def count(n_runs: int) -> None:
            nonlocal done
            done += n_runs
            told(done / size, "training")

        return train_queue(share, max_steps, limit, count, leap)[0]

    parts = in_threads(train_share, range(workers), workers, shared)
    outcome = jax.tree.map(lambda *leaves: _interleave(leaves, n_runs), *parts)
    wrong = ~(SET_LABELS * outcome.outputs > 0)  # not "<= 0": the NaN of a diverged run is wrong, too
    return PatternTrajectory(
        network=ConvMaxPool(jnp.asarray(outcome.filters), networks.output_weights),
        status=outcome.status,
        steps=outcome.steps,
        zero_error_step=outcome.zero_error_step,
        zero_loss_step=outcome.zero_loss_step,
        loss=outcome.loss / total,
        train_error=np.sum(np.where(wrong, counts, 0), axis=1) / counts.sum(axis=1),
        outputs=outcome.outputs,
    )


def class_weights(counts: Int[np.ndarray, "run 15"]) -> tuple[Float[np.ndarray, "run 15"], Float[np.ndarray, " run"]]:
    """ℓ as whole numbers: (counts × lcm / m_class, lcm) with lcm of the class sizes m₊ and m₋.

    ℓ is the weighted sum of losses divided by the second. Whole numbers cancel exactly where thirds would leave 1e-17,
    and so an update that is zero in the paper is zero here.
    """
    sizes = np.stack([counts @ (SET_LABELS > 0), counts @ (SET_LABELS < 0)])
    total = np.lcm(*np.maximum(sizes, 1)).astype(float)
    per_point = total / np.maximum(sizes, 1)
    return counts * np.where(SET_LABELS > 0, per_point[0][:, None], per_point[1][:, None]), total


def on_grid(
    networks: ConvMaxPool,
    counts: Int[Array, "run 15"] | Int[np.ndarray, "run 15"],
    step_size: float | Float[Array, " run"] | Float[np.ndarray, " run"],
) -> tuple[ConvMaxPool, Float[np.ndarray, " run"]]:
    """The nearest networks and step sizes for which gradient descent does no rounding at all.

    Filters become multiples of `GRID`, and so does η/lcm(m₊, m₋). For the step of Figure 1 with 200 channels that is a
    relative change below 1e-9. From there on every sum is exact (as long as lcm·ℓ stays below 512), so a trajectory
    does not depend on the order of summation, the batch or the machine.
    """
    counts = np.asarray(counts)
    etas = _per_run("step_size", step_size, _validate(networks, counts))
    total = class_weights(counts)[1]
    units = etas / total
    # From LARGEST on all floats are multiples already, and dividing the largest by GRID would overflow.
    steps = np.where(units < LARGEST, np.round(np.minimum(units, LARGEST) / GRID) * GRID, units) * total
    if (lost := steps == 0).any():
        lcm = total[lost][0]
        raise ValueError(
            f"step_size must be above {GRID / 2 * lcm:g}, which is {GRID / 2:g} times lcm(m₊, m₋) = {lcm:g}, or"
            f" the grid rounds it to 0, got {etas[lost][0]:g}"
        )
    filters = np.round(np.asarray(networks.filters) / GRID) * GRID
    return ConvMaxPool(jnp.asarray(filters), networks.output_weights), steps


def _on_grid(values: np.ndarray) -> np.ndarray:
    small = np.abs(values) < LARGEST
    multiples = np.where(small, values, 0.0) / GRID
    return small & (multiples == np.round(multiples))


def _interleave(leaves: tuple[np.ndarray, ...], n_runs: int) -> np.ndarray:
    joined = np.empty((n_runs, *leaves[0].shape[1:]), leaves[0].dtype)
    for first, leaf in enumerate(leaves):
        joined[first :: len(leaves)] = leaf
    return joined


def _validate(networks: Any, counts: np.ndarray) -> int:
    if not isinstance(networks, ConvMaxPool):
        raise ValueError(f"networks must be a ConvMaxPool with a leading run axis, got {type(networks).__name__}")
    filters, votes = networks.filters, np.asarray(networks.output_weights)
    if filters.ndim != 3 or filters.shape[2] != 2 or filters.dtype != jnp.float64:
        raise ValueError(f"filters must be float64 of shape (run, channel, 2), got {filters.dtype} {filters.shape}")
    n_runs, n_channels, _ = filters.shape
    if n_runs == 0:
        raise ValueError("an ensemble needs at least one run")
    if n_channels % 2 or not (votes == np.repeat([1.0, -1.0], n_channels // 2)).all():
        raise ValueError("the second layer must be +1 for the first half of the channels and -1 for the other half")
    if counts.shape != (n_runs, 15) or not np.issubdtype(counts.dtype, np.integer):
        raise ValueError(f"counts must be {n_runs} rows of 15 whole numbers, got {counts.dtype} {counts.shape}")
    if (counts < 0).any() or not counts.any(axis=1).all():
        raise ValueError("counts must not be negative, and every run needs at least one training point")
    return n_runs


def _per_run(name: str, value: Any, n_runs: int) -> Float[np.ndarray, " run"]:
    try:
        numbers = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be one number or one per run, got {value!r}") from None
    if numbers.shape not in ((), (n_runs,)):
        raise ValueError(f"{name} must be one number or one per run, got shape {numbers.shape} for {n_runs} runs")
    if not (good := (numbers > 0) & np.isfinite(numbers)).all():
        raise ValueError(f"{name} must be positive and finite, got {numbers[~good].flat[0]:g}")
    return np.broadcast_to(numbers, (n_runs,))

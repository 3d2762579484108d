"""widenet itself, as a user calls it.

A call of `ensemble` also looks at the whole training set before and after, which no peer does. So a long and a short
call are timed, and the cost of a step is what the additional steps add; the note says what a whole call costs.
"""

from typing import Any

import jax

from benchmarks.descent import DescentWorkload, with_bias
from benchmarks.flow import TOLERANCE, FlowWorkload
from benchmarks.measure import Peer
from benchmarks.softmax import SoftmaxWorkload
from benchmarks.workloads import SgdWorkload
from benchmarks.xord import XordWorkload
from widenet.training import SGD, ensemble, train_patterns
from widenet.types import Trajectory


def sgd(workload: SgdWorkload | SoftmaxWorkload, steps: int, long: int, kernel: str = "auto") -> Peer:
    """`ensemble` with the kernel of that name."""
    recipe = workload.recipe(steps, kernel)
    method = recipe.method.fitted(workload.networks, workload.data, recipe.loss, recipe.layers, None)
    chosen = method.kernel if isinstance(method, SGD) else type(method).__name__

    def train(steps: int) -> jax.Array:
        return jax.block_until_ready(_trajectory(workload, steps, kernel).network.hidden_weights)

    # An epoch's order is drawn at its first step. So both lengths are whole epochs, and the difference has its draws.
    epoch = workload.steps_per_epoch if long > workload.steps_per_epoch else 0
    return Peer(f"widenet ({chosen})", train, workload.n_runs, steps, long, short=epoch)


def active_share(workload: SgdWorkload, steps: int) -> float:
    """The measured share of steps whose update is not zero."""
    return float(_trajectory(workload, steps).updates.mean()) / steps


def _trajectory(workload: SgdWorkload | SoftmaxWorkload, steps: int, kernel: str = "auto") -> Trajectory:
    return ensemble(workload.networks, workload.data, workload.recipe(steps, kernel), workload.keys)


def descent(workload: DescentWorkload, steps: int, long: int) -> Peer:
    """`ensemble` with `GradientDescent` and a `StepRule`."""

    def train(steps: int) -> jax.Array:
        run = ensemble(workload.networks, workload.data, workload.recipe(steps), workload.keys)
        return jax.block_until_ready(with_bias(run.network))

    return Peer("widenet (GradientDescent)", train, workload.n_runs, steps, long)


def flow(workload: FlowWorkload, steps: int, long: int) -> Peer:
    """`ensemble` with `Flow`."""

    def train(steps: int) -> jax.Array:
        return jax.block_until_ready(flow_weights(workload, steps, TOLERANCE))

    return Peer("widenet (Flow)", train, workload.n_runs, steps, long, note=f"tolerance {TOLERANCE:.0e}")


def flow_weights(workload: FlowWorkload, steps: int, tolerance: float) -> jax.Array:
    """The weights after so many ticks."""
    recipe = workload.recipe(steps, tolerance)
    return ensemble(workload.networks, workload.data, recipe, workload.keys).network.hidden_weights


def xord(workload: XordWorkload, steps: int, long: int) -> Peer:
    """`train_patterns`: the points only through their pattern sets."""

    def train(steps: int) -> Any:
        run = train_patterns(
            workload.networks,
            workload.counts,
            workload.step_size,
            margin=workload.margin,
            max_steps=steps,
            patience=steps + 1,
        )
        if not (run.steps == steps).all():
            raise RuntimeError(f"some runs were done before {steps} steps, so the peers would do more than ours")
        return run.network.filters

    return Peer("widenet (pattern sets)", train, workload.n_runs, steps, long)

"""What a gradient flow keeps from step to step, and what it tells beside its weights."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from widenet.training.flow.kinks import Pattern
from widenet.types import RunStatus

KEPT = 16
"""Episodes of sliding that are kept with their times; all of them are counted."""


class Moment(eqx.Module):
    """When something first held; NaN if it never did.

    Attributes:
      reading: of the clock.
      log_time: log t, which is finite where t itself overflows; −∞ at the start.
    """

    reading: Float[Array, "*run"]
    log_time: Float[Array, "*run"]


class Crossings(eqx.Module):
    """How often a neuron came to the other side of a kink, and what the clock read at the first and the last time.

    Attributes:
      count: all of them. Kinks that a neuron crosses at one moment count once.
      first, last: NaN if there was none.
      neuron, sample: of the last one; −1 if there was none.
    """

    count: Int[Array, "*run"]
    first: Float[Array, "*run"]
    last: Float[Array, "*run"]
    neuron: Int[Array, "*run"]
    sample: Int[Array, "*run"]


class Sliding(eqx.Module):
    """Episodes of sliding along a kink: their number, and the first `KEPT` of them.

    Attributes:
      count: all episodes.
      begun, ended: readings of the clock; `ended` is NaN while the neuron slides.
      neuron, sample: which pair; of samples that share a kink, the first. −1 in a row that was not needed.
    """

    count: Int[Array, "*run"]
    begun: Float[Array, "*run episode"]
    ended: Float[Array, "*run episode"]
    neuron: Int[Array, "*run episode"]
    sample: Int[Array, "*run episode"]


class Corners(eqx.Module):
    """How often a neuron met several kinks at one moment, when first, and which neuron it was then.

    In general position that happens where sliding leads a neuron through 0. Beyond a corner the flow need not be
    unique: the path is one solution of the inclusion, and gradient descent may follow another.
    """

    count: Int[Array, "*run"]
    first: Float[Array, "*run"]
    neuron: Int[Array, "*run"]


class FlowReport(eqx.Module):
    """What a flow tells beside its weights.

    Attributes:
      status: RUNNING while all is well; DIVERGED where the weights blow up in finite time; UNRESOLVED where the solver
        cannot reach its tolerance, needs too many steps, or a neuron slides along more kinks than there are slots.
      now: where the run stands. A run that has failed stands before the end of a step.
      events: the moments of the named rules.
      crossings, sliding, corners: what happened at kinks.
      solver_steps: tried by the solver, rejected ones included.
    """

    status: Int[Array, "*run"]
    now: Moment
    events: dict[str, Moment]
    crossings: Crossings
    sliding: Sliding
    corners: Corners
    solver_steps: Int[Array, "*run"]


class FlowState(eqx.Module):
    """What the next step needs beside the weights.

    Attributes:
      pattern: the sides of the kinks, and where neurons slide.
      reach: the largest norm each neuron has had: the scale of its rounding.
      solver_step: what the solver tries next; 0 before its first step, and then nothing else here is used.
      passed: log(1 + t), where the clock needs it.
      report: what a reader sees.
    """

    pattern: Pattern
    reach: Float[Array, "*run neuron"]
    solver_step: Float[Array, "*run"]
    passed: Float[Array, "*run"]
    report: FlowReport


def unbegun(n_neurons: int, n_samples: int, n_slots: int, events: tuple[str, ...], dtype: Any) -> FlowState:
    """The state of a run before its first step."""
    zero, nan, none, count = (
        jnp.zeros((), dtype), jnp.full((), jnp.nan, dtype), jnp.full((), -1, jnp.int32), jnp.zeros((), jnp.int32),
    )  # fmt: skip
    blank, nobody = jnp.full(KEPT, jnp.nan, dtype), jnp.full(KEPT, -1, jnp.int32)
    return FlowState(
        pattern=Pattern.empty(n_neurons, n_samples, n_slots, dtype),
        reach=jnp.zeros(n_neurons, dtype),
        solver_step=zero,
        passed=zero,
        report=FlowReport(
            status=jnp.full((), RunStatus.RUNNING, jnp.int32),
            now=Moment(zero, jnp.full((), -jnp.inf, dtype)),
            events={name: Moment(nan, nan) for name in events},
            crossings=Crossings(count, nan, nan, none, none),
            sliding=Sliding(count, blank, blank, nobody, nobody),
            corners=Corners(count, nan, none),
            solver_steps=count,
        ),
    )

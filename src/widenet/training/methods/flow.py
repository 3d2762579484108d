"""Gradient flow dW/dt = −∇L(W) of the mean training loss, by an adaptive solver that knows about kinks.

The solver is diffrax's Tsit5 (order 5, embedded error, dense output). Between two kinks the field is smooth, and the
solver only ever sees a smooth one: the pattern of σ' is frozen during a step, a step that ends the pattern of a
neuron is cut where it does, and the next one starts there with the new pattern. So crossing a kink costs a step and no
accuracy. Where the fields on both sides of a kink lead towards it, the neuron slides along it (`flow.kinks`): this is
found, followed in the sense of Clarke's subdifferential, and reported, never stepped over. A step is looked at in four
places; an excursion over a kink and back that is shorter than a quarter of a step may go unseen.

One step of the engine's counter is one step of a clock, with as many steps of the solver inside as the tolerance asks
for. The solver stops at every step of the clock, so a run does not depend on where others are looked at.
"""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from widenet.losses import POSITIVE, SATURATING, Loss
from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.engine.validation import check_rule, whole
from widenet.training.flow.clocks import Clock, LossClock
from widenet.training.flow.solver import FlowSolver, Rules
from widenet.training.flow.state import FlowReport, FlowState, unbegun
from widenet.training.kernels.plain import gradient_of, is_any_nonzero
from widenet.training.methods.base import Method, Sizes, StallTest, check_step_size
from widenet.training.schedules import StepRule
from widenet.training.stopping import StoppingRule
from widenet.types import Dataset, Layers


def _rules(events: Any) -> Rules:
    # Once made, the rules are pairs: `dataclasses.replace` hands them in again.
    named = tuple(events.items()) if isinstance(events, Mapping) else events
    pairs = isinstance(named, tuple) and all(isinstance(each, tuple) and len(each) == 2 for each in named)
    if not pairs or not all(isinstance(name, str) for name, _ in named):
        raise ValueError(f"events must be rules by name, such as {{'no mistake': zero_error}}, got {events!r}")
    named = tuple(sorted(named))
    for name, rule in named:
        if not callable(rule):
            raise ValueError(f"event {name!r} must be a rule such as zero_error or loss_below(0.1), got {rule!r}")
    return named


def _number(value: Any) -> Any:
    """NumPy's floats as Python's, which alone are constants of a program."""
    return float(value) if isinstance(value, np.floating) else value


class Flow(Method):
    """Gradient flow of a two-layer network, in float64, with a loss that has no kinks.

    The kinks of (Leaky) ReLU are located, crossed and slid along. Any other activation is taken to be smooth.

    What happened on the way is in `Trajectory.report`, a `FlowReport`.

    Attributes:
      clock: what one step of the engine is: `LinearClock(dt)` or `LossClock(step)`.
      tolerance: the error of one step of the solver, per neuron, relative to its norm.
      events: rules by name (`zero_error`, `loss_below(0.1)`, …); the first moment at which each holds is located.
      slots: how many kinks one neuron may slide along at once; one more ends the run as UNRESOLVED.
      most_solver_steps: per step of the clock; a run that needs more ends as UNRESOLVED.
      n_samples: not to be given; `fitted` finds it out.
    """

    clock: Clock
    tolerance: float = eqx.field(static=True, default=1e-8, converter=_number)
    events: Rules = eqx.field(static=True, default=(), converter=_rules)
    slots: int = eqx.field(static=True, default=16)
    most_solver_steps: int = eqx.field(static=True, default=100_000)
    n_samples: int = eqx.field(static=True, default=0, repr=False)

    if TYPE_CHECKING:  # else a type checker would ask for events as pairs

        def __init__(
            self,
            clock: Clock,
            tolerance: float = 1e-8,
            events: Mapping[str, StoppingRule] = MappingProxyType({}),
            slots: int = 16,
            most_solver_steps: int = 100_000,
        ) -> None: ...

    def __check_init__(self) -> None:
        """Mistakes that would otherwise surface deep inside a compiled program."""
        if not isinstance(self.clock, Clock):
            raise ValueError(f"clock must be LinearClock(dt) or LossClock(step), got {self.clock!r}")
        if self.clock.step is not None:  # the engine takes the numbers of runs out of what it compiles
            if isinstance(self.clock.step, StepRule):
                raise ValueError("the step of a clock must be a number, or one number per run, got a StepRule")
            check_step_size(self.clock.step, "the step of a clock")
        if not isinstance(self.tolerance, float) or not 1e-13 <= self.tolerance <= 1e-2:  # no whole number does
            raise ValueError(f"tolerance must lie between 1e-13 and 0.01, got {self.tolerance!r}")
        whole("slots", self.slots, 1), whole("most_solver_steps", self.most_solver_steps, 1)

    @property
    def numbers(self) -> Any:
        """The step of the clock; or what stands in its place while it is being replaced."""
        return self.clock.step

    @property
    def records_inside(self) -> bool:
        """A step of the clock is many of the solver: leaving the program to record costs little."""
        return False

    @property
    def in_turn(self) -> bool:
        """Steps of the solver are as long as their run allows: side by side, all runs would wait for all kinks."""
        return True

    def fitted(
        self, networks: Any, data: Dataset, loss: Loss, layers: Layers, watch: Any, dense: bool = False
    ) -> "Flow":
        """The same for this many samples, with no more slots than kinks can meet; refuses what it cannot follow."""
        if not isinstance(networks, TwoLayer):
            raise ValueError(f"a flow follows two-layer networks, whose kinks it knows, got {type(networks).__name__}")
        if data.inputs.dtype != jnp.float64:
            raise ValueError(f"a flow is followed in float64, got {data.inputs.dtype}")
        answers = () if networks.n_outputs is None else (networks.n_outputs,)
        outputs, labels = (jax.ShapeDtypeStruct((data.n_samples, *more), data.inputs.dtype) for more in (answers, ()))
        for name, rule in self.events:
            check_rule(f"event {name!r}", rule, outputs, labels)
        dim = data.dim + (networks.bias is not None)
        slots = min(self.slots, dim, data.n_samples) if isinstance(networks.activation, PiecewiseLinear) else 1
        return dataclasses.replace(self, slots=slots, n_samples=data.n_samples)

    def init(self, weights: Any) -> FlowState:
        """A run that has not begun; where it stands, its first segment finds out."""
        n_neurons, names = weights.hidden_weights.shape[0], tuple(name for name, _ in self.events)
        return unbegun(n_neurons, self.n_samples, self.slots, names, weights.hidden_weights.dtype)

    def advance(self, state: State, segment: Segment) -> State:
        """One run after the steps of the segment."""
        self._check_loss(segment.loss)
        return FlowSolver(
            state,
            segment,
            clock=self.clock,
            tolerance=self.tolerance,
            rules=self.events,
            most_solver_steps=self.most_solver_steps,
        ).run()

    def _check_loss(self, loss: Loss) -> None:
        if loss in SATURATING:
            raise ValueError(f"a flow needs a loss without kinks, logistic or cross_entropy, got {loss.__name__}")
        if isinstance(self.clock, LossClock) and loss not in POSITIVE:
            names = " or ".join(each.__name__ for each in POSITIVE)
            raise ValueError(f"a LossClock needs a loss whose logarithm is known, {names}, got {loss.__name__}")

    def ended(self, own: FlowState) -> Int[Array, " run"]:
        """RUNNING, or how the solver has failed."""
        return own.report.status

    def report(self, own: FlowState) -> FlowReport:
        """What happened on the way."""
        return own.report

    @staticmethod
    def moves_left(network: Any, data: Dataset, *, loss: Loss, layers: Layers) -> Bool[Array, ""]:
        """Whether the gradient is not zero; those of the samples may cancel."""
        return is_any_nonzero(gradient_of(network, data.inputs, data.labels, loss=loss, layers=layers)[0])

    def trial(self, n_samples: int) -> StallTest:
        """One step: from the same weights the next one is the same."""
        return StallTest(None, n_samples, 1)

    def memory(self, sizes: Sizes) -> tuple[int, int]:
        """Nine stages and five looks at the weights, and as many at the neurons of all samples; the kinks."""
        stages = 16 * sizes.weights + 16 * sizes.item * sizes.samples * sizes.neurons
        slots = 4 * sizes.item * sizes.neurons * self.slots * (self.slots + sizes.dim)
        return stages + slots, 2 * sizes.item * sizes.samples * (sizes.dim + 4)

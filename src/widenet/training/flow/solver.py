"""One run of a gradient flow: its field, the steps of its solver, its events."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from widenet.losses import POSITIVE, zero_one
from widenet.networks import PiecewiseLinear, TwoLayer
from widenet.networks.two_layer import EXACT
from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State, Tally
from widenet.training.flow.clocks import Clock, LossClock
from widenet.training.flow.events import CLOSE, LOOKS, first_time, only_if, put
from widenet.training.flow.kinks import (
    Frozen,
    Kinks,
    Pattern,
    first_arrival,
    first_pattern,
    kinks_of,
    slot_room,
    tangent,
    turn,
)
from widenet.training.flow.state import KEPT, Corners, Crossings, FlowReport, FlowState, Moment, Sliding
from widenet.training.kernels.plain import gradient_of
from widenet.training.record import Step
from widenet.training.stopping import StoppingRule
from widenet.types import Layers, RunStatus

FIRST = 1e-3
"""The first step that the solver tries, as a share of the clock's; the next ones are what the error allows."""
SMALLEST = 1e-14
"""Steps of the solver below this share of the clock's reading make no progress."""
SMALL_NORM = 1e-3
"""A neuron that has shrunk below this share of its largest norm is resolved relative to that share."""
LARGE_MOVE = 1e-6
"""Where even the smallest step would move the weights by this share of themselves, they blow up in finite time."""

Rules = tuple[tuple[str, StoppingRule], ...]
Hidden = Float[Array, "neuron dim"]
Moving = tuple[Hidden, Float[Array, "*output neuron"] | None, Float[Array, ""]]
"""What the solver integrates: rows with their biases, the output weights where they move, log(1 + t)."""


class _FlowLoop(eqx.Module):
    """Inside the loop: `into` is how far the clock is into step `number`; `before` and `outputs` are its beginning."""

    place: Moving
    before: Moving
    outputs: Array
    own: FlowState
    tally: Tally
    watched: Any
    number: Int[Array, ""]
    into: Float[Array, ""]
    solver: Any
    tried: Int[Array, ""]


class FlowSolver:
    """One run over one segment."""

    def __init__(
        self, state: State, segment: Segment, *, clock: Clock, tolerance: float, rules: Rules, most_solver_steps: int
    ):
        """The segment belongs to this run alone, and `state.own` is a `FlowState`."""
        import diffrax  # late: no other training needs it

        self.state, self.data, self.loss, self.layers = state, segment.data, segment.loss, segment.layers
        self.start, self.stop, self.watch = jnp.asarray(segment.start), jnp.asarray(segment.stop), segment.watch
        self.clock, self.tolerance, self.rules, self.most_solver_steps = clock, tolerance, rules, most_solver_steps
        self.first: TwoLayer = state.network
        self.kinks: Kinks = kinks_of(segment.data, self.first.bias is not None)
        self.activation = state.network.activation
        self.has_kinks = isinstance(self.activation, PiecewiseLinear)  # any other activation is taken to be smooth
        slope = self.activation.slope if isinstance(self.activation, PiecewiseLinear) else 0.0
        self.slope = jnp.asarray(slope, segment.data.inputs.dtype)
        self.step = segment.constant_step
        # A scan inside a step, not one that could be differentiated through.
        self.solver = diffrax.Tsit5(scan_kind="lax")
        self.term = diffrax.ODETerm(lambda into, moving, args: self.velocity(moving, args[0] + into, args[1]))

    def run(self) -> State:
        """The run at the end of the segment. One that has failed stays where it is."""

        def going(carry: _FlowLoop) -> Array:
            return (carry.number < self.stop) & (carry.own.report.status == RunStatus.RUNNING)

        carry = jax.lax.while_loop(going, self._go, self._begin())
        return State(self.network(carry.place), carry.tally, carry.watched, carry.own)

    def network(self, moving: Moving) -> TwoLayer:
        """The network with these weights."""
        rows, second, _ = moving
        second = self.first.output_weights if second is None else second
        if self.first.bias is None:
            return TwoLayer(rows, second, None, self.first.activation)
        return TwoLayer(rows[:, :-1], second, rows[:, -1], self.first.activation)

    def frozen(self, pattern: Pattern) -> Frozen | None:
        """The pattern as the field sees it; None without kinks."""
        return pattern.frozen(self.kinks, self.slope) if self.has_kinks else None

    def units(self, moving: Moving, frozen: Frozen | None) -> tuple[Array, Array]:
        """(σ, σ') per neuron and sample; with kinks as the frozen pattern has them, on its side and beyond."""
        z = jnp.dot(moving[0], self.kinks.inputs.T, precision=EXACT)
        if frozen is not None:
            return frozen.factors * z, frozen.factors
        return self.activation(z), self.activation.derivative(z)

    def outputs(self, moving: Moving, frozen: Frozen | None) -> Array:
        """The outputs on all samples."""
        second = self.first.output_weights if moving[1] is None else moving[1]
        return jnp.dot(second, self.units(moving, frozen)[0], precision=EXACT).T

    def slopes(self, outputs: Array, reading: Float[Array, ""]) -> tuple[Array, Float[Array, ""]]:
        """(dt/du times the derivatives of the losses, log dt/du): neither underflows before their product does."""
        labels = self.data.labels
        if self.loss in POSITIVE:
            logs, pull = jax.vjp(lambda outputs: POSITIVE[self.loss](outputs, labels), outputs)
            mean = jax.nn.logsumexp(logs) - jnp.log(jnp.asarray(float(labels.shape[0])))
            log_rate = self.clock.log_rate(reading, mean)
            return pull(jnp.exp(log_rate + logs))[0], log_rate
        losses, pull = jax.vjp(lambda outputs: self.loss(outputs, labels), outputs)
        log_rate = self.clock.log_rate(reading, jnp.zeros((), losses.dtype))
        return pull(jnp.full_like(losses, jnp.exp(log_rate)))[0], log_rate

    def pulls(self, moving: Moving, reading: Float[Array, ""], frozen: Frozen | None) -> tuple[Array, Array, Array]:
        """(−∂L/∂z at σ' = 1 per neuron and sample, −∂L/∂outputs, log dt/du), by the clock's time."""
        second = self.first.output_weights if moving[1] is None else moving[1]
        slopes, log_rate = self.slopes(self.outputs(moving, frozen), reading)
        # Else XLA would take logarithms and exponentials once per neuron and sample, not once per sample.
        drive = jax.lax.optimization_barrier(-slopes / self.data.labels.shape[0])
        pulls = second[:, None] * drive[None] if drive.ndim == 1 else jnp.dot(second.T, drive.T, precision=EXACT)
        return pulls, drive, log_rate

    def velocity(self, moving: Moving, reading: Float[Array, ""], frozen: Frozen | None) -> Moving:
        """d/du of everything that moves."""
        pulls, drive, log_rate = self.pulls(moving, reading, frozen)
        hidden, factors = self.units(moving, frozen)
        rows = jnp.dot(pulls * factors, self.kinks.inputs, precision=EXACT)
        if frozen is not None:
            rows = tangent(rows, frozen.normals, frozen.inverse)
        second = None if moving[1] is None else jnp.dot(hidden, drive, precision=EXACT).T
        passed = jnp.exp(log_rate - moving[2]) if self._integrates_time else jnp.zeros_like(log_rate)
        return rows, second, passed

    def _begin(self) -> _FlowLoop:
        """The loop before its first turn."""
        own: FlowState = self.state.own
        second = self.first.output_weights if self.layers is Layers.BOTH else None
        place = (_rows(self.first), second, own.passed)
        begun = own.solver_step > 0
        own = jax.tree.map(lambda old, new: jnp.where(begun, old, new), own, self._first_state(place, own))
        outputs = self.outputs(place, self.frozen(own.pattern))
        solver = (jnp.ones((), bool), jax.tree.map(jnp.zeros_like, place))
        number, into, tried = self.start.astype(jnp.int32), jnp.zeros_like(own.passed), jnp.zeros((), jnp.int32)
        return _FlowLoop(place, place, outputs, own, self.state.tally, self.state.watched, number, into, solver, tried)

    def _first_state(self, place: Moving, own: FlowState) -> FlowState:
        """Where the run stands before its first step."""
        pattern = own.pattern
        if isinstance(self.activation, PiecewiseLinear):
            at_zero = jnp.asarray(self.activation.derivative_at_zero, place[0].dtype)
            pattern = first_pattern(place[0], self.kinks, self.slope, at_zero, pattern.slots.shape[1])
        outputs = self.outputs(place, self.frozen(pattern))
        losses = self.loss(outputs, self.data.labels)
        zero, never = jnp.zeros_like(own.passed), jnp.full_like(own.passed, jnp.nan)
        events = {}
        for name, rule in self.rules:
            holds = rule(outputs, self.data.labels, losses)
            events[name] = Moment(jnp.where(holds, zero, never), jnp.where(holds, -jnp.inf, never))
        report = eqx.tree_at(lambda report: report.events, own.report, events)
        return FlowState(pattern, _lengths(place[0]), FIRST * self.step, own.passed, report)

    def _go(self, carry: _FlowLoop) -> _FlowLoop:
        """Try one step of the solver."""
        own, report = carry.own, carry.own.report
        reading = carry.number.astype(self.step.dtype) * self.step + carry.into
        left = self.step - carry.into
        to_the_end = own.solver_step >= left * (1 - 1e-9)
        length = jnp.where(to_the_end, left, own.solver_step)
        frozen = self.frozen(own.pattern)
        y1, gap, dense, solver, _ = self.solver.step(
            self.term, jnp.zeros_like(length), length, carry.place, (reading, frozen), carry.solver, False
        )
        path = self.solver.interpolation_cls(t0=jnp.zeros_like(length), t1=length, **dense)

        def along(share: Array) -> Moving:
            return path.evaluate(share * length)

        # The error of every neuron relative to its norm, or to a thousandth of the largest it has had.
        scale = self.tolerance * jnp.maximum(jnp.maximum(_norms(carry.place), _norms(y1)), SMALL_NORM * own.reach)
        errors = _norms(gap)
        error = jnp.max(jnp.where(errors > 0, errors / jnp.where(scale > 0, scale, jnp.finfo(scale.dtype).tiny), 0))
        error = jnp.maximum(error, jnp.abs(gap[2]) / self.tolerance)
        finite = jnp.isfinite(error) & jnp.all(jnp.isfinite(_norms(y1)))
        kept = finite & (error <= 1)
        factor = jnp.clip(0.9 * jnp.maximum(error, 1e-10) ** -0.2, 0.2, 5.0)
        next_step = length * jnp.where(finite, factor, 0.2)
        # A step that only fills up the engine's says nothing about how long steps may be.
        next_step = jnp.where(kept & to_the_end, jnp.maximum(next_step, own.solver_step), next_step)

        # Where does the first pattern end? At a kink, or where a sliding neuron comes free.
        reach = jnp.maximum(own.reach, _lengths(y1[0]))
        share, meets, pattern, full = jnp.where(kept, 1.0, 0.0), jnp.zeros((), bool), own.pattern, jnp.zeros((), bool)
        place = jax.tree.map(lambda new, old: jnp.where(kept, new, old), y1, carry.place)
        if frozen is not None:
            rows = jax.vmap(along)(jnp.asarray(LOOKS))[0]
            share, spot = first_arrival(rows, own.pattern, self.kinks, self.slope, reach, kept)
            share, spot, at_slot = only_if(
                kept & jnp.any(own.pattern.slots >= 0),
                lambda found: self._first_release(along, reading, length, own.pattern, frozen, found),
                (share, spot, jnp.zeros((), bool)),
            )
            meets = spot >= 0
            share = jnp.where(kept, share, 0.0)
            place, pattern, report, full = only_if(
                meets,
                lambda _: self._meet(along(share), reading + share * length, spot, at_slot, own, frozen, reach),
                (place, pattern, report, full),
            )
        now = reading + share * length

        # Named events, on the part of the step that was taken.
        report = self._locate_events(along, reading, length, share, place, frozen, report)

        done = kept & to_the_end & ~meets
        tried = carry.tried + 1
        spent = (tried > self.most_solver_steps) & ~done
        stuck = ~kept & (next_step < SMALLEST * jnp.maximum(now, SMALLEST * self.step))
        moves = jnp.sqrt(jnp.sum(_norms(jax.tree.map(lambda k: k[0], dense["k"])) ** 2))
        blows_up = stuck & ~(moves <= LARGE_MOVE * jnp.sqrt(jnp.sum(_norms(carry.place) ** 2)))
        status = jnp.where(full | spent | stuck, RunStatus.UNRESOLVED, report.status)
        status = jnp.where(blows_up, RunStatus.DIVERGED, status).astype(jnp.int32)
        here = Moment(now, self.clock.log_time(now, place[2]))
        report = eqx.tree_at(
            lambda report: (report.status, report.now, report.solver_steps),
            report,
            (status, here, report.solver_steps + 1),
        )
        reach = jnp.where(kept, jnp.maximum(own.reach, _lengths(place[0])), own.reach)
        own = FlowState(pattern, reach, next_step, place[2], report)
        # After a turn the field has jumped; after a rejected step its first value is still good.
        solver = jax.tree.map(lambda new, old: jnp.where(kept, new, old), solver, carry.solver)
        solver = (solver[0] | meets, solver[1])
        carry = eqx.tree_at(
            lambda c: (c.place, c.own, c.into, c.solver, c.tried),
            carry,
            (place, own, jnp.where(done, 0.0, carry.into + share * length), solver, tried),
        )
        return self._count(carry, done)

    def _count(self, carry: _FlowLoop, done: Bool[Array, ""]) -> _FlowLoop:
        """The end of a step of the clock."""
        number = carry.number + 1
        moved = jax.tree.map(lambda new, old: jnp.any(new != old), carry.place[:2], carry.before[:2])
        is_update = jnp.any(jnp.stack(jax.tree.leaves(moved)))
        labels = self.data.labels
        tally = carry.tally.count(is_update, jnp.sum(zero_one(carry.outputs, labels)), number)
        watched = carry.watched
        if self.watch is not None:
            before, after, inputs = self.network(carry.before), self.network(carry.place), self.data.inputs
            gradient = gradient_of(before, inputs, labels, loss=self.loss, layers=self.layers)[0]
            step = Step(before, after, inputs, labels, carry.outputs, gradient, self.step, is_update, number)
            watched = self.watch.update(watched, step)
        outputs = self.outputs(carry.place, self.frozen(carry.own.pattern))
        counted = (carry.place, outputs, tally, watched, number, jnp.zeros_like(carry.tried))

        def those(carry: _FlowLoop) -> tuple[Any, ...]:
            return carry.before, carry.outputs, carry.tally, carry.watched, carry.number, carry.tried

        chosen = jax.tree.map(lambda new, old: jnp.where(done, new, old), counted, those(carry))
        return eqx.tree_at(those, carry, chosen, is_leaf=lambda leaf: leaf is None)

    def _first_release(
        self, along: Callable, reading: Float[Array, ""], length: Float[Array, ""], pattern: Pattern, frozen: Frozen,
        found: tuple[Float[Array, ""], Int[Array, ""], Bool[Array, ""]],
    ) -> tuple[Float[Array, ""], Int[Array, ""], Bool[Array, ""]]:  # fmt: skip
        """(share of the step, neuron · slots + slot, True) where a sliding neuron comes free before what was `found`.

        The first look is taken at four places of the step; where a neuron is free, at four places of the part before.
        """

        def least(share: Array) -> tuple[Array, Array]:
            pulls = self.pulls(along(share), reading + share * length, frozen)[0]
            rooms = jnp.ravel(slot_room(pulls, pattern, frozen, self.kinks, self.slope))
            spot = jnp.argmin(rooms)
            return rooms[spot], spot.astype(jnp.int32)

        def look(seen: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
            low, high, spot, _ = seen
            shares = low + (high - low) * jnp.asarray(LOOKS)
            rooms, spots = jax.vmap(least)(shares[1:])
            which = jnp.argmax(rooms < 0)
            over = rooms[which] < 0
            low, high = jnp.where(over, shares[which], high), jnp.where(over, shares[which + 1], high)
            return low, high, jnp.where(over, spots[which], spot), jnp.zeros((), bool)

        def go_on(seen: tuple[Array, Array, Array, Array]) -> Array:
            low, high, _, unseen = seen
            return unseen | (high - low > CLOSE)  # of no length where nobody is free

        nothing = jnp.full((), -1, jnp.int32)
        low, _, spot, _ = jax.lax.while_loop(
            go_on, look, (jnp.zeros_like(length), found[0], nothing, jnp.ones((), bool))
        )
        free = spot >= 0
        return jnp.where(free, low, found[0]), jnp.where(free, spot, found[1]), free

    def _meet(
        self, place: Moving, now: Float[Array, ""], spot: Int[Array, ""], at_slot: Bool[Array, ""], own: FlowState,
        frozen: Frozen, reach: Float[Array, " neuron"],
    ) -> tuple[Moving, Pattern, FlowReport, Array]:  # fmt: skip
        """Carry the neuron whose pattern ends here over it, and write down what happened."""
        report, rows, n_samples = own.report, place[0], self.kinks.norms.shape[0]
        neuron, spot = jnp.divmod(spot, jnp.where(at_slot, own.pattern.slots.shape[1], n_samples).astype(jnp.int32))
        spot = jnp.where(at_slot, n_samples + spot, spot)
        pulls = self.pulls(place, now, frozen)[0]
        sliding, crossings = report.sliding, report.crossings
        done = turn(
            rows[neuron], pulls[neuron], neuron, spot, own.pattern, self.kinks, self.slope, reach[neuron],
            sliding.count,
        )  # fmt: skip
        sample = self.kinks.first[jnp.minimum(spot, n_samples - 1)]  # told of who crosses or begins to slide
        new = jnp.where(done.slid, sliding.count, KEPT)
        old = jnp.where(done.released, own.pattern.episodes[neuron, done.slot], KEPT)
        sliding = Sliding(
            sliding.count + done.slid.astype(jnp.int32),
            put(sliding.begun, new, now),
            put(sliding.ended, old, now),
            put(sliding.neuron, new, neuron),
            put(sliding.sample, new, sample),
        )

        def if_crossed(value: Array, old: Array) -> Array:
            return jnp.where(done.crossed, value, old)

        crossings = Crossings(
            crossings.count + done.crossed.astype(jnp.int32),
            if_crossed(jnp.where(crossings.count == 0, now, crossings.first), crossings.first),
            if_crossed(now, crossings.last),
            if_crossed(neuron, crossings.neuron),
            if_crossed(sample, crossings.sample),
        )
        corners, first = report.corners, done.corner & (report.corners.count == 0)
        corners = Corners(
            corners.count + done.corner.astype(jnp.int32),
            jnp.where(first, now, corners.first),
            jnp.where(first, neuron, corners.neuron),
        )
        report = eqx.tree_at(
            lambda report: (report.sliding, report.crossings, report.corners), report, (sliding, crossings, corners)
        )
        return (put(rows, neuron, done.row), *place[1:]), done.pattern, report, done.full

    def _locate_events(
        self, along: Callable, reading: Float[Array, ""], length: Float[Array, ""], share: Float[Array, ""],
        place: Moving, frozen: Frozen | None, report: FlowReport,
    ) -> FlowReport:  # fmt: skip
        """The moments of the rules that hold for the first time at the end of what was taken of this step."""
        labels, events = self.data.labels, dict(report.events)

        def holds(rule: StoppingRule, moving: Moving) -> Array:
            outputs = self.outputs(moving, frozen)
            return rule(outputs, labels, self.loss(outputs, labels))

        for name, rule in self.rules:
            moment = events[name]
            news = jnp.isnan(moment.reading) & (share > 0) & holds(rule, place)

            def locate(moment: Moment, rule: StoppingRule = rule, news: Array = news) -> Moment:
                _, at = first_time(lambda s: holds(rule, along(s)), jnp.zeros_like(share), share, news)
                now = reading + at * length
                return Moment(now, self.clock.log_time(now, along(at)[2]))

            events[name] = only_if(news, locate, moment)
        return eqx.tree_at(lambda report: report.events, report, events)

    @property
    def _integrates_time(self) -> bool:
        return isinstance(self.clock, LossClock)


def _rows(network: TwoLayer) -> Hidden:
    """Every neuron with its bias as one more coordinate."""
    if network.bias is None:
        return network.hidden_weights
    return jnp.concatenate([network.hidden_weights, network.bias[:, None]], axis=1)


def _lengths(rows: Hidden) -> Float[Array, " neuron"]:
    return jnp.sqrt(jnp.sum(rows**2, axis=1))


def _norms(moving: Moving) -> Float[Array, " neuron"]:
    """The norm of every neuron, its output weights included where they move."""
    square = jnp.sum(moving[0] ** 2, axis=1)
    if moving[1] is not None:
        square = square + jnp.sum(jnp.reshape(moving[1], (-1, square.shape[0])) ** 2, axis=0)
    return jnp.sqrt(square)

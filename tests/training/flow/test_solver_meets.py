# pyright: reportCallIssue=false
"""What a course writes down, part by part: meetings with kinks, events, the beginning and the end of a run."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.training import LossClock
from widenet.training.flow.kinks import Pattern, Turn
from widenet.training.flow.state import Moment
from widenet.types import Layers, RunStatus

from .test_solver import NEURONS, SAMPLES, SLOPE, course, drawn, gradient

FIRST = np.array([0, 1, 0, 3, 1])
"""The third sample shares the kink of the first here, and the last one that of the second."""
SLOTS, EPISODES = [[3, 1], [0, -1], [-1, -1], [3, 0]], [[2, 0], [1, -1], [-1, -1], [17, 3]]
REACH = [2.0, 3.0, 5.0, 7.0]
KINDS = ("crossed", "slid", "released", "corner", "full")


@functools.cache
def meeting():
    """(asked, one program): a meeting whose outcome is told; what the neuron was turned with is handed back too."""
    asked: Any = course(layers=Layers.BOTH)
    begin = asked._begin()
    place, frozen = begin.place, asked.frozen(begin.own.pattern)
    asked.kinks = eqx.tree_at(lambda kinks: kinks.first, asked.kinks, jnp.asarray(FIRST, jnp.int32))

    def go(own, now, spot, at_slot, told, slot):
        given = []

        def turned(row, pulls, neuron, place, pattern, kinks, slope, scale, episode):
            given.extend([row, pulls, neuron, place, scale, episode])
            return Turn(pattern, row + 1, *told, slot)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("widenet.training.flow.solver.turn", turned)
            return asked._meet(place, now, spot, at_slot, own, frozen, jnp.asarray(REACH)), given

    return asked, jax.jit(go)


def begun():
    own = meeting()[0]._begin().own
    slots, episodes = (jnp.asarray(part, jnp.int32) for part in (SLOTS, EPISODES))
    return eqx.tree_at(lambda own: own.pattern, own, Pattern(own.pattern.sides, slots, own.pattern.inverse, episodes))


def meet(own, now, neuron, place, *what):
    """`place` is a sample, or the number of samples plus a slot."""
    at_slot = place >= SAMPLES
    spot = neuron * 2 + place - SAMPLES if at_slot else neuron * SAMPLES + place
    told = [jnp.asarray(kind in what) for kind in KINDS]
    slot = jnp.asarray(place - SAMPLES if at_slot else 1, jnp.int32)
    found, given = meeting()[1](own, jnp.asarray(now), jnp.asarray(spot, jnp.int32), jnp.asarray(at_slot), told, slot)
    return eqx.tree_at(lambda own: own.report, own, found[2]), found, given


def history():
    """Twenty meetings and more: (neuron, place, what happens), crossings, sliding, releases and corners."""
    yield from [(3, 1), (1, 4, "crossed"), (0, 0, "corner"), (2, 2, "crossed", "corner"), (3, 3, "slid"), (0, 1)]
    yield from [(3, SAMPLES, "released"), (0, SAMPLES + 1, "released"), (1, 3, "crossed"), (3, 0, "corner", "full")]
    yield from [(step % NEURONS, step % SAMPLES, "slid") for step in range(17)]
    yield from [(0, SAMPLES, "released"), (3, SAMPLES + 1, "released"), (2, 4, "crossed")]


def test_a_history_of_meetings_is_written_down_as_it_happens():
    """Kept are the times of sixteen episodes; all are counted."""
    own, crossed, corners = begun(), [], []
    rows, ended, slid = [], np.full(16, np.nan), 0
    for step, (neuron, place, *what) in enumerate(history()):
        now = 0.5 + step
        own, (_, _, report, full), _ = meet(own, now, neuron, place, *what)
        crossed += [(now, neuron, FIRST[place])] if "crossed" in what else []
        corners += [(now, neuron)] if "corner" in what else []
        slid += "slid" in what
        rows += [(now, neuron, FIRST[place])] if "slid" in what and len(rows) < 16 else []
        if "released" in what and EPISODES[neuron][place - SAMPLES] < 16:
            ended[EPISODES[neuron][place - SAMPLES]] = now
        assert bool(full) is ("full" in what)
        crossings, sliding = report.crossings, report.sliding
        counts = (crossings.count, sliding.count, report.corners.count)
        assert [int(count) for count in counts] == [len(crossed), slid, len(corners)]
        last = crossed[-1] if crossed else (np.nan, -1, -1)
        np.testing.assert_array_equal((crossings.last, crossings.neuron, crossings.sample), last)
        np.testing.assert_array_equal(crossings.first, crossed[0][0] if crossed else np.nan)
        first = corners[0] if corners else (np.nan, -1)
        np.testing.assert_array_equal((report.corners.first, report.corners.neuron), first)
        kept = np.array(rows + [(np.nan, -1, -1)] * (16 - len(rows)))
        for part, expected in zip((sliding.begun, sliding.neuron, sliding.sample), kept.T, strict=True):
            np.testing.assert_array_equal(part, expected)
        np.testing.assert_array_equal(sliding.ended, ended)
    assert slid == 18


@pytest.mark.parametrize(("neuron", "place"), [(0, 0), (2, 4), (3, 3), (0, SAMPLES), (3, SAMPLES + 1)])
def test_the_neuron_that_meets_its_kink_is_turned_and_no_other(neuron, place):
    _, (found, pattern, _, _), given = meet(begun(), 1.5, neuron, place)
    weights, outer, _, inputs, labels = drawn(None, False)
    z = weights @ inputs.T
    outputs = outer @ (np.where(z > 0, 1, SLOPE) * z)
    pulls = outer[neuron] * labels / (1 + np.exp(labels * outputs)) / SAMPLES
    row, pulled, *numbers = given
    np.testing.assert_array_equal(row, weights[neuron])
    np.testing.assert_allclose(pulled, pulls, rtol=1e-12)
    assert [float(number) for number in numbers] == [neuron, place, REACH[neuron], 0]
    np.testing.assert_allclose(found[0], weights + (np.arange(NEURONS) == neuron)[:, None], rtol=1e-15)
    np.testing.assert_array_equal(found[1], outer)
    assert float(found[2]) == 0
    np.testing.assert_array_equal(pattern.slots, SLOTS)


RULES = (
    ("already", lambda outputs, labels, losses: outputs[0] >= 0.1),
    ("now", lambda outputs, labels, losses: outputs[0] >= 0.3),
    ("losses", lambda outputs, labels, losses: losses[0] <= -0.6),
)


@functools.cache
def looks():
    """A course whose outputs are the share of the step, and its losses minus that."""
    asked: Any = course(clock=LossClock(0.5), rules=RULES)
    asked.outputs = lambda moving, frozen: moving[0][:, 0]
    asked.loss = lambda outputs, labels: -outputs

    def along(share):
        return jnp.full((NEURONS, 3), share), None, 2 * share

    def go(share, end, report):
        frozen = asked.frozen(asked.state.own.pattern)
        return asked._locate_events(along, jnp.asarray(3.0), jnp.asarray(0.5), share, along(end), frozen, report)

    report = course(rules=RULES)._begin().own.report
    return jax.jit(go), report


@pytest.mark.parametrize(
    ("share", "end", "expected"),
    [(0.8, 0.8, {"now": 0.3, "losses": 0.6}), (0.5, 0.5, {"now": 0.3}), (0.2, 0.2, {}), (0.0, 0.8, {})],
)
def test_events_are_located_in_the_part_of_a_step_that_was_taken(share, end, expected):
    """The step is 0.5 long and begins at 3; log(1 + t) is twice the share. What has happened stays as it was."""
    go, report = looks()
    before = Moment(jnp.asarray(1.25), jnp.asarray(0.125))
    report = eqx.tree_at(lambda report: report.events["already"], report, before)
    nan = jnp.full((), jnp.nan)
    for name in ("now", "losses"):
        report = eqx.tree_at(lambda report, name=name: report.events[name], report, Moment(nan, nan))
    events = go(jnp.asarray(share), jnp.asarray(end), report).events
    assert (float(events["already"].reading), float(events["already"].log_time)) == (1.25, 0.125)
    for name in ("now", "losses"):
        found = [float(events[name].reading), float(events[name].log_time)]
        at = expected.get(name, np.nan)
        np.testing.assert_allclose(found, [3 + 0.5 * at, np.log(np.expm1(2 * at))], rtol=1e-12)


@pytest.mark.parametrize(("fails", "turns"), [(99, 4), (7, 4), (5, 2)])
def test_a_run_goes_to_the_end_of_its_segment_or_until_it_fails(fails, turns):
    """From step 3 to step 7; every turn of the loop is a step here, and adds 1 to the rows."""
    asked: Any = course()

    def go(carry):
        number, report = carry.number + 1, carry.own.report
        status = jnp.where(number == fails, RunStatus.UNRESOLVED, report.status).astype(jnp.int32)
        changed = (carry.place[0] + 1, number, status, report.solver_steps + 1)
        return eqx.tree_at(
            lambda c: (c.place[0], c.number, c.own.report.status, c.own.report.solver_steps), carry, changed
        )

    asked._go = go
    ended = asked.run()
    assert int(ended.own.report.solver_steps) == turns
    np.testing.assert_allclose(ended.network.hidden_weights, drawn(None, False)[0] + turns, rtol=1e-15)
    # What has failed stays where it is.
    asked.state = eqx.tree_at(lambda state: state.own, asked.state, eqx.tree_at(
        lambda own: (own.solver_step, own.report.status), ended.own,
        (jnp.asarray(0.25), jnp.asarray(RunStatus.DIVERGED, jnp.int32)),
    ))  # fmt: skip
    assert int(asked.run().own.report.solver_steps) == turns


def test_a_run_that_has_begun_goes_on_from_what_it_keeps():
    asked: Any = course(layers=Layers.BOTH, rules=RULES)
    own = eqx.tree_at(
        lambda own: (own.pattern.sides, own.reach, own.solver_step, own.passed),
        asked._begin().own,
        (-asked._begin().own.pattern.sides, jnp.asarray(REACH), jnp.asarray(0.25), jnp.asarray(0.75)),
    )
    asked.state = eqx.tree_at(lambda state: state.own, asked.state, own)
    begin = asked._begin()
    for found, kept in zip(jax.tree.leaves(begin.own), jax.tree.leaves(own), strict=True):
        np.testing.assert_array_equal(found, kept)
    assert float(begin.place[2]) == 0.75
    # Outputs are those of the sides that are kept.
    weights, outer, _, inputs, _ = drawn(None, False)
    z = weights @ inputs.T
    np.testing.assert_allclose(begin.outputs, outer @ (np.where(z < 0, 1, SLOPE) * z), rtol=1e-12)


def test_who_watches_sees_the_step_of_the_clock_and_the_gradient_at_its_beginning():
    asked: Any = course(layers=Layers.BOTH)
    seen = []

    class Watch:
        def update(self, watched, step):
            seen.append(step)
            return watched

    asked.watch = Watch()
    carry = asked._begin()
    carry = eqx.tree_at(lambda c: c.place[0], carry, carry.place[0] + 1)
    asked._count(carry, jnp.asarray(True))
    (step,) = seen
    weights, outer, *_ = drawn(None, False)
    by_rows, by_outer, _ = gradient(None, False)
    np.testing.assert_allclose(step.gradient.hidden_weights, by_rows, atol=1e-14)
    np.testing.assert_allclose(step.gradient.output_weights, by_outer, atol=1e-14)
    np.testing.assert_array_equal(step.before.hidden_weights, weights)
    np.testing.assert_array_equal(step.after.hidden_weights, weights + 1)
    np.testing.assert_array_equal(step.after.output_weights, outer)

"""How peers are compared and timed, on made-up peers."""

import math

import numpy as np
import pytest

from benchmarks.measure import (
    Disagreement,
    Peer,
    Timing,
    apart,
    first_calls,
    in_turn,
    ratio,
    require_agreement,
)

WEIGHTS = np.linspace(0.5, 1.0, 3 * 200 * 5).reshape(3, 200, 5)


def timing(weights: np.ndarray = WEIGHTS, name: str = "one", steps: int = 10, long: int = 0) -> Timing:
    return Timing(Peer(name, lambda steps: weights, len(weights), steps, long), weights, 0.0)


def moved(run: int, neuron: int | slice, by: float) -> np.ndarray:
    other = WEIGHTS.copy()
    other[run, neuron] += by
    return other


def test_rounding_is_agreement_and_a_flipped_neuron_in_float32_too() -> None:
    assert apart(WEIGHTS + 1e-7, WEIGHTS, "float32") == (pytest.approx(1e-7), 0.0)
    found = require_agreement([timing(), timing(moved(0, 3, 0.1), "other")], "float32")
    assert found == {"other": (0.0, pytest.approx(1 / 600))}


def test_a_peer_with_fewer_runs_is_compared_on_those() -> None:
    assert apart(moved(0, 0, 0.0)[:1], moved(2, 0, 1.0), "float64") == (0.0, 0.0)


@pytest.mark.parametrize(
    ("other", "dtype"),
    [
        (WEIGHTS + 1e-4, "float32"),
        (moved(0, slice(None), 0.1), "float32"),
        (moved(0, 3, 1e-9), "float64"),
        (moved(0, slice(None), math.nan), "float32"),
        (np.full_like(WEIGHTS, math.nan), "float64"),
    ],
    ids=["all", "one run", "one neuron in float64", "nan in a run", "nan everywhere"],
)
def test_control_other_weights_are_noticed(other: np.ndarray, dtype: str) -> None:
    with pytest.raises(Disagreement, match=r"'other' and 'one' start from the same weights and differ after 10 steps"):
        require_agreement([timing(), timing(other, "other")], dtype)


def test_control_nothing_is_near_a_weight_that_is_infinite() -> None:
    with pytest.raises(Disagreement):
        require_agreement([timing(moved(0, 3, math.inf)), timing(WEIGHTS + 1.0, "other")], "float32")


def test_control_weights_after_other_steps_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="same number of steps"):
        require_agreement([timing(), timing(steps=11, name="other")], "float32")


def test_a_call_without_a_long_one_is_divided_by_its_steps() -> None:
    one = timing()
    one.short = [3e-3, 6e-3]
    assert one.per_step == pytest.approx([100, 200])
    assert one.whole_call == pytest.approx(150)


def test_the_fixed_cost_comes_from_the_fastest_short_call() -> None:
    one = timing(long=110)
    # A call costs 1 s, a step of a run 1/300 s. Something came between in a short call and later in a long one.
    one.short, one.long = [1.1, 9.0, 1.1], [2.1, 2.1, 5.1]
    assert one.separable
    assert one.per_step == pytest.approx([1e6 / 300, 1e6 / 300, 4e6 / 300])
    assert one.whole_call == pytest.approx(1e6 * 2.1 / 110 / 3)


def test_control_steps_that_cannot_be_told_from_the_rest_are_not_cheap() -> None:
    one = timing(long=110)
    one.short, one.long = [1.1, 1.2], [1.0, 1.15]
    assert not one.separable
    assert one.per_step == pytest.approx([1e6 / 330, 1.15e6 / 330])


def test_ratios_are_formed_inside_a_round() -> None:
    ours, peer = timing(), timing(name="peer")
    ours.short, peer.short = [1.0, 1.0, 10.0], [4.0, 4.0, 40.0]
    assert ratio(peer, ours) == pytest.approx(4)
    ours.short, peer.short = [1.0, 2.0, 10.0], [4.0, 8.0, 10.0]
    assert ratio(peer, ours) == pytest.approx(4)


def test_everybody_has_a_turn_in_every_round_in_changing_order() -> None:
    called: list[tuple[str, int]] = []

    def make(name: str, long: int) -> Peer:
        return Peer(name, lambda steps: called.append((name, steps)) or WEIGHTS, 3, 10, long)

    missing = Peer("missing", None, note="not here")
    timings = first_calls([make("a", 20), make("b", 0), make("c", 0), missing])
    assert [each.peer.name for each in timings] == ["a", "b", "c"]
    called.clear()
    for turn in range(3):
        in_turn(timings, turn)
    assert called[:4] == [("a", 10), ("a", 20), ("b", 10), ("c", 10)]
    assert {len(each.short) for each in timings} == {3}
    assert [len(each.long) for each in timings] == [3, 0, 0]
    assert [name for name, _ in called[4:8]] != [name for name, _ in called[:4]]

"""The benchmark at tiny sizes: rows, agreement, and its controls."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pytest

from benchmarks import jax_peers, limits, memory, ours, parts, suite, torch_peers
from benchmarks.classifier import require_accuracy
from benchmarks.descent import DescentWorkload
from benchmarks.flow import FlowWorkload
from benchmarks.measure import Disagreement, as_array
from benchmarks.rows import Row
from benchmarks.softmax import SoftmaxWorkload
from benchmarks.suite import SUITE, Result
from benchmarks.workloads import late_hinge, logistic_sgd
from benchmarks.xord import XordWorkload
from widenet.progress import silent

from .sizes import TINY


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Everything once, without torch, so that the outcome does not depend on what is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_peers, "torch_or_none", lambda: None)
        patch.setitem(limits.COPIED_BYTES, "cpu", 1 << 16)
        return {name: work(TINY, silent) for name, work in SUITE.items()}


def timed(result: Result) -> list[Row]:
    return [row for row in result.rows if row.us_per_step_per_run is not None]


@pytest.mark.parametrize("name", ["logistic_sgd", "late_hinge", "xord", "descent"])
def test_side_by_side(results: dict[str, Result], name: str) -> None:
    rows = {row.peer: row for row in results[name].rows}
    first, *_ = rows.values()
    assert first.peer.startswith("widenet (")
    assert first.ratio_to_ours == 1
    assert first.limit_us == rows["limit: products"].us_per_step_per_run
    assert {"JAX vmap of scan", "torch CUDA graph", "torch batched", "torch loop", "limit: memory"} <= rows.keys()
    assert "torch lean loop" in rows
    assert "apart" in rows["JAX vmap of scan"].note
    assert all(row.us_per_step_per_run > 0 for row in timed(results[name]) if row.us_per_step_per_run is not None)
    assert all(row.workload == name and row.device == limits.device_name() for row in rows.values())
    programs = {"xord": 2, "descent": 2, "logistic_sgd": 4}.get(name, 3)
    assert f"{programs} programs have the same weights" in results[name].remarks[-1]


@pytest.mark.parametrize(("name", "batch"), [("softmax_64", 64), ("softmax_16", 16)])
def test_every_width_of_the_mini_batches_is_side_by_side(results: dict[str, Result], name: str, batch: int) -> None:
    for width in TINY.softmax_widths:
        rows = {row.peer: row for row in results[name].rows if row.sizes["neurons"] == width}
        assert [row.peer for row in rows.values() if row.ratio_to_ours == 1] == [next(iter(rows))]
        assert {
            "JAX vmap of scan",
            "JAX scan in threads",
            "torch CUDA graph",
            "torch loop",
            "limit: products",
        } <= rows.keys()
        assert {row.sizes["batch"] for row in rows.values()} == {batch}
        assert "apart" in rows["JAX vmap of scan"].note
        assert any(remark.startswith(f"{width} neurons: 3 programs have the same") for remark in results[name].remarks)


def test_a_flow_says_how_far_everybody_is_from_a_fine_one(results: dict[str, Result]) -> None:
    first, coarse, fine, solver, *_ = results["flow"].rows
    assert (first.peer, first.ratio_to_ours) == ("widenet (Flow)", 1)
    assert (coarse.peer, fine.peer) == ("JAX RK4, 16 per tick", "JAX RK4, 256 per tick")
    assert solver.us_per_step_per_run is None
    assert "torch is not installed" in solver.note
    words = results["flow"].remarks[-1]
    assert words.startswith("Largest error after 1 ticks against a tolerance of 1e-11: widenet (Flow) ")
    assert "JAX RK4, 256 per tick" in words


def test_without_torchdiffeq_its_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_peers, "torch_or_none", lambda: object())
    monkeypatch.setattr(torch_peers, "torchdiffeq_or_none", lambda: None)
    peer = torch_peers.flow(FlowWorkload(1), 1, False)
    assert peer.train is None
    assert peer.note == "torchdiffeq is not installed: pip install --no-deps torchdiffeq"


def test_without_torch_the_rows_say_so(results: dict[str, Result]) -> None:
    absent = [row for row in results["xord"].rows if row.peer.startswith("torch")]
    assert len(absent) == 4
    for row in absent:
        assert (row.us_per_step_per_run, row.ratio_to_ours, row.compile_seconds) == (None, None, None)
        assert "torch is not installed" in row.note


def test_the_hinge_says_how_many_steps_changed_nothing(results: dict[str, Result]) -> None:
    share, words = results["late_hinge"].remarks[0].split(" ", 1)
    assert words == "% of the 256 measured steps of a run changed nothing."
    assert float(share) == pytest.approx(95, abs=2)
    assert results["logistic_sgd"].remarks[0].startswith("0.0 % ")


def test_control_early_in_training_many_steps_change_something() -> None:
    early = late_hinge(3, n_neurons=10, dim=100, n_samples=400, epochs_before=0)
    assert ours.active_share(early, 100) > 0.15


def test_parts_add_up_to_the_whole_training(results: dict[str, Result]) -> None:
    rows = results["parts"].rows
    assert [row.peer for row in rows] == [
        parts.ROWS_OF_DATA,
        parts.PREACTIVATIONS,
        parts.INNER_PRODUCTS,
        parts.UPDATE,
        parts.WALK,
        parts.ORDER,
    ]
    assert rows[-1].ratio_to_ours == 1
    times = [row.us_per_step_per_run or 0.0 for row in rows]
    assert times == sorted(times)
    assert rows[0].note.startswith("this part and those above it, fastest of 4 rounds; alone ")


def test_the_last_two_parts_are_the_real_training_and_the_others_leave_the_weights_alone() -> None:
    workload = logistic_sgd(3, n_neurons=10, dim=100, n_samples=128)
    found = {peer.name: as_array(peer.train(128)) for peer in parts.peers(workload, 128) if peer.train is not None}
    (want,) = [as_array(peer.train(128)) for peer in [ours.sgd(workload, 128, 0)] if peer.train is not None]
    for name in (parts.WALK, parts.ORDER):
        np.testing.assert_allclose(found.pop(name), want, atol=1e-6)
    for weights in found.values():
        np.testing.assert_allclose(weights, workload.networks.hidden_weights, atol=1e-6)
    assert np.abs(want - np.asarray(workload.networks.hidden_weights)).max() > 1e-3  # control: training is noticed


def test_the_classifier_is_as_accurate_as_its_peer(results: dict[str, Result]) -> None:
    own, peer = results["classifier"].rows
    assert (own.peer, own.ratio_to_ours) == ("widenet (WideClassifier)", 1)
    assert peer.peer == "scikit-learn MLPClassifier"
    assert (own.sizes["runs"], own.sizes["neurons"], own.sizes["batch"]) == (2, 40, 32)
    assert results["classifier"].remarks[0].startswith("Training accuracy: widenet (WideClassifier) 9")


@pytest.mark.parametrize("accuracies", [(0.95, 0.85), (0.5, 0.5)])
def test_control_accuracies_that_differ_or_are_poor(accuracies: tuple[float, float]) -> None:
    with pytest.raises(Disagreement, match="training accuracies"):
        require_accuracy(dict(zip(("a", "b"), map(np.asarray, accuracies), strict=True)))
    assert "95.0 %" in require_accuracy({"a": np.array([0.95]), "b": np.array([0.94])})


def test_figure_1_and_the_two_kinds_of_growth(results: dict[str, Result]) -> None:
    (row,) = results["figure_1"].rows
    assert row.sizes["trainings"] == 4
    assert "4 trainings" in row.note
    assert [row.sizes["runs"] for row in results["linear_runs"].rows] == [3]
    assert [row.sizes["steps"] for row in results["linear_steps"].rows] == [64, 256]
    assert results["linear_steps"].rows[0].ratio_to_ours == 1
    assert "Peak memory of the" in results["linear_steps"].remarks[0]


class LongerSteps(XordWorkload):
    """By one part in ten thousand."""

    @property
    def step_size(self) -> float:
        return 1.0001 * super().step_size


@dataclass(frozen=True)
class LargerFactor(DescentWorkload):
    """By one part in ten thousand."""

    @property
    def factor(self) -> float:
        return 1.0001 * super().factor


@dataclass(frozen=True)
class LongerSoftmax(SoftmaxWorkload):
    """By one part in a thousand."""

    @property
    def step_size(self) -> float:
        return 1.001 * super().step_size


def test_control_a_flow_that_goes_on_for_longer_stops_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_peers, "torch_or_none", lambda: None)
    monkeypatch.setattr(suite, "in_turn", lambda *_: pytest.fail("timed in spite of the disagreement"))
    own = jax_peers.flow

    def longer(workload, steps, per_tick):
        return own(replace(workload, tick=1.5), steps, per_tick)

    monkeypatch.setattr(jax_peers, "flow", longer)
    with pytest.raises(Disagreement, match=r"JAX RK4, 16 per tick.*allowed in flow.*nothing was timed"):
        SUITE["flow"](TINY, silent)


@pytest.mark.parametrize("name", ["logistic_sgd", "xord", "softmax_16", "descent"])
def test_control_a_peer_with_another_step_size_stops_everything(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_peers, "torch_or_none", lambda: None)
    monkeypatch.setattr(suite, "in_turn", lambda *_: pytest.fail("timed in spite of the disagreement"))
    if name == "descent":
        descent = jax_peers.descent
        monkeypatch.setattr(jax_peers, "descent", lambda workload, steps: descent(LargerFactor(2), steps))
    elif name == "softmax_16":
        softmax = jax_peers.softmax

        def larger(workload, steps):
            return softmax(LongerSoftmax(**asdict(workload)), steps)

        monkeypatch.setattr(jax_peers, "softmax", larger)
    elif name == "xord":
        one = jax_peers.xord
        monkeypatch.setattr(jax_peers, "xord", lambda workload, steps: one(LongerSteps(4, 4), steps))
    else:
        other = jax_peers.sgd
        monkeypatch.setattr(jax_peers, "sgd", lambda workload, steps: other(replace(workload, step_size=0.051), steps))
    with pytest.raises(Disagreement, match=r"JAX vmap of scan.*nothing was timed"):
        SUITE[name](TINY, silent)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: late_hinge(2, n_neurons=8, dim=12, n_samples=64), id="late_hinge"),
        pytest.param(lambda: XordWorkload(2, 4), id="xord"),
        pytest.param(lambda: SoftmaxWorkload(2, 8, 16, dim=12, n_samples=64), id="softmax_16"),
        pytest.param(lambda: DescentWorkload(2, 8, 20), id="descent"),
    ],
)
def test_torch_arrives_at_the_same_weights(make: Callable[[], Any]) -> None:
    pytest.importorskip("torch")
    workload = make()
    graph, *others = torch_peers.peers(workload, 16, False)
    assert graph.train is None
    match workload:
        case XordWorkload():
            reference = jax_peers.xord(workload, 16)
        case DescentWorkload():
            reference = jax_peers.descent(workload, 16)
        case SoftmaxWorkload():
            reference = jax_peers.softmax(workload, 16)[0]
        case _:
            reference = jax_peers.sgd(workload, 16)[0]
    assert reference.train is not None
    expected = as_array(reference.train(16))
    for peer in others:
        assert peer.train is not None
        tolerance = 1e-12 if workload.dtype == "float64" else 1e-6
        np.testing.assert_allclose(as_array(peer.train(16)), expected[: peer.n_runs], rtol=tolerance, atol=tolerance)


def test_torchdiffeq_arrives_at_the_same_weights() -> None:
    pytest.importorskip("torchdiffeq")
    workload = FlowWorkload(2, 6, 5, 3)
    peer = torch_peers.flow(workload, 2, False)
    assert peer.train is not None
    expected = as_array(ours.flow_weights(workload, 2, 1e-8))
    np.testing.assert_allclose(as_array(peer.train(2)), expected, atol=1e-5)


def test_peaks_are_refused_where_more_steps_could_hide_behind_those_before() -> None:
    with pytest.raises(ValueError, match=r"must ascend, and \[128, 64\] do not"):
        memory.peak_bytes(4, 4, 1, [128, 64])


def test_peak_memory_is_that_of_the_process_alone() -> None:
    code = """
from benchmarks.memory import own_peak_bytes
before = own_peak_bytes()
held = bytearray(200_000_000)
print(before, own_peak_bytes())
"""
    held = bytearray(300_000_000)  # what the parent holds does not count
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    before, after = map(int, done.stdout.split())
    assert before < len(held)
    assert after - before > 150_000_000

"""What `widenet bench` runs, and at which sizes on which device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import jax
import numpy as np

from benchmarks import jax_peers, limits, memory, ours, parts, torch_peers
from benchmarks.classifier import ClassifierWorkload, require_accuracy
from benchmarks.descent import DescentWorkload
from benchmarks.flow import FINE, FlowWorkload
from benchmarks.measure import Peer, Timing, as_array, first_calls, in_turn, in_words, require_agreement
from benchmarks.rows import Row, Setting, number
from benchmarks.softmax import SoftmaxWorkload
from benchmarks.workloads import SgdWorkload, late_hinge, logistic_sgd
from benchmarks.xord import CHANNELS, XordWorkload, figure_1
from widenet.progress import Progress


@dataclass(frozen=True)
class Sizes:
    """How large everything is.

    Attributes:
      runs: of the SGD workloads.
      steps: of a peer's call, after which weights are compared.
      long: of the long call of widenet.
      neurons, inputs, samples: of the SGD workloads.
      xord_runs, xord_channels, xord_steps, xord_long: the same for XORD.
      softmax_runs, softmax_widths, softmax_samples: of the mini-batch workloads.
      softmax_epochs: of the long call of widenet.
      descent_runs, descent_steps, descent_long: the same for steps that depend on the loss.
      flow_runs, flow_ticks, flow_long: the same for gradient flow.
      classifier_runs, classifier_width, classifier_epochs: of `WideClassifier`; a long call has thrice the epochs.
      figure_runs, figure_repeats: runs per width of Figure 1, and how often it is timed.
      scaled_runs: three numbers of runs.
      scaled_steps: three numbers of steps.
      scaled_long: the long call where the number of runs varies.
      memory_runs, memory_steps: the same for peak memory.
      rounds: how often everybody is timed.
    """

    runs: int = 16
    steps: int = 256
    long: int = 12288
    neurons: int = 100
    inputs: int = 784
    samples: int = 4096
    xord_runs: int = 100
    xord_channels: int = 200
    xord_steps: int = 8
    xord_long: int = 2048
    softmax_runs: int = 5
    softmax_widths: tuple[int, ...] = (1000, 4000)
    softmax_samples: int = 1024
    softmax_epochs: int = 4
    descent_runs: int = 40
    descent_steps: int = 100
    descent_long: int = 1000
    flow_runs: int = 8
    flow_ticks: int = 8
    flow_long: int = 32
    classifier_runs: int = 8
    classifier_width: int = 200
    classifier_epochs: int = 10
    figure_runs: int = 100
    figure_repeats: int = 1
    figure_widths: tuple[int, ...] = CHANNELS
    scaled_runs: tuple[int, ...] = (4, 8, 32)
    scaled_steps: tuple[int, ...] = (4096, 16384, 32768)
    scaled_long: int = 4096
    memory_runs: int = 2
    memory_steps: tuple[int, ...] = (4096, 32768, 262144)
    rounds: int = 3


CPU = Sizes()
GPU = replace(
    CPU,
    runs=512,
    long=32768,
    xord_runs=512,
    xord_steps=16,
    softmax_widths=(1000, 4000, 16000),
    softmax_samples=4096,
    softmax_epochs=8,
    descent_steps=96,
    scaled_runs=(512, 1024, 2048),
    scaled_steps=(8192, 16384, 65536),
    scaled_long=16384,
    memory_runs=512,
    memory_steps=(4096, 16384, 65536),
)


@dataclass
class Result:
    """The rows of one workload and what is worth a sentence below them."""

    rows: list[Row]
    remarks: list[str] = field(default_factory=list)


def default_sizes() -> Sizes:
    """Those of the device that JAX uses."""
    return GPU if on_gpu() else CPU


def on_gpu() -> bool:
    """Whether JAX trains on a GPU."""
    return jax.default_backend() == "gpu"


def _logistic(sizes: Sizes, progress: Progress) -> Result:
    workload = logistic_sgd(sizes.runs, n_neurons=sizes.neurons, dim=sizes.inputs, n_samples=sizes.samples)
    return _sgd(workload, sizes, progress)


def _late_hinge(sizes: Sizes, progress: Progress) -> Result:
    progress(0.0, "training to where most steps change nothing")
    workload = late_hinge(sizes.runs, n_neurons=sizes.neurons, dim=sizes.inputs, n_samples=sizes.samples)
    return _sgd(workload, sizes, progress)


def _sgd(workload: SgdWorkload, sizes: Sizes, progress: Progress) -> Result:
    own = [ours.sgd(workload, sizes.steps, sizes.long)]
    if own[0].name != "widenet (blocked)":
        own.append(ours.sgd(workload, sizes.steps, sizes.long, "blocked"))
    peers = [*jax_peers.sgd(workload, sizes.steps), *torch_peers.peers(workload, sizes.steps, on_gpu())]
    return _side_by_side(workload, [*own, *peers], sizes.rounds, progress)


def _xord(sizes: Sizes, progress: Progress) -> Result:
    workload = XordWorkload(sizes.xord_runs, sizes.xord_channels)
    own = ours.xord(workload, sizes.xord_steps, sizes.xord_long)
    peers = [jax_peers.xord(workload, sizes.xord_steps), *torch_peers.peers(workload, sizes.xord_steps, on_gpu())]
    return _side_by_side(workload, [own, *peers], sizes.rounds, progress)


def _softmax(batch_size: int, sizes: Sizes, progress: Progress) -> Result:
    """Every width by itself, in one table."""
    whole, widths = Result([]), sizes.softmax_widths
    for place, width in enumerate(widths):
        workload = SoftmaxWorkload(
            sizes.softmax_runs, width, batch_size, dim=sizes.inputs, n_samples=sizes.softmax_samples
        )
        epoch = workload.steps_per_epoch
        own = ours.sgd(workload, epoch, sizes.softmax_epochs * epoch)
        peers = [own, *jax_peers.softmax(workload, epoch), *torch_peers.peers(workload, epoch, on_gpu())]

        def told(done, words, place=place):
            return progress((place + done) / len(widths), words)

        part = _side_by_side(workload, peers, sizes.rounds, told)
        whole.rows.extend(part.rows)
        whole.remarks.extend(f"{width:,} neurons: {remark}" for remark in part.remarks)
    return whole


def _softmax_64(sizes: Sizes, progress: Progress) -> Result:
    return _softmax(64, sizes, progress)


def _softmax_16(sizes: Sizes, progress: Progress) -> Result:
    return _softmax(16, sizes, progress)


def _descent(sizes: Sizes, progress: Progress) -> Result:
    workload, steps = DescentWorkload(sizes.descent_runs), sizes.descent_steps
    own = ours.descent(workload, steps, sizes.descent_long)
    peers = [jax_peers.descent(workload, steps), *torch_peers.peers(workload, steps, on_gpu())]
    return _side_by_side(workload, [own, *peers], sizes.rounds, progress)


def _flow(sizes: Sizes, progress: Progress) -> Result:
    workload, ticks = FlowWorkload(sizes.flow_runs), sizes.flow_ticks
    own = ours.flow(workload, ticks, sizes.flow_long)
    plain = [jax_peers.flow(workload, ticks, per_tick) for per_tick in (workload.per_tick, 16 * workload.per_tick)]
    peers = [own, *plain, torch_peers.flow(workload, ticks, on_gpu())]
    progress(0.0, "a fine solution")
    # Shorter ticks, so that the solver cannot take the very same steps: here kinks cut them, not the tolerance.
    fine = as_array(ours.flow_weights(replace(workload, tick=workload.tick / 4), 4 * ticks, FINE))
    errors = []
    for peer in peers:
        if peer.train is not None:
            error = np.abs(as_array(peer.train(ticks)) - fine).max() / np.abs(fine).max()
            errors.append(f"{peer.name} {error:.0e}")
    result = _side_by_side(workload, peers, sizes.rounds, progress)
    remark = f"Largest error after {ticks} ticks against a tolerance of {FINE:.0e}: {', '.join(errors)}."
    return Result(result.rows, [*result.remarks, remark])


def _classifier(sizes: Sizes, progress: Progress) -> Result:
    workload = ClassifierWorkload(sizes.classifier_runs, sizes.classifier_width)
    steps = sizes.classifier_epochs * workload.steps_per_epoch
    peers = [workload.ours(steps, 3 * steps), workload.theirs(steps)]
    timings = first_calls(peers, lambda fraction, words: progress(0.5 * fraction, words))
    agreed = require_accuracy({timing.peer.name: as_array(timing.weights) for timing in timings})
    _rounds(timings, sizes.rounds, progress)
    setting = Setting("classifier", limits.device_name(), "float32", workload.sizes, None)
    return Result([setting.timed(timing, timings[0]) for timing in timings], [agreed])


def _side_by_side(workload: limits.Workload, peers: Sequence[Peer], rounds: int, progress: Progress) -> Result:
    """Compare the weights, then time in turn: the first peer is the one that ratios refer to."""
    timings = first_calls(peers, lambda fraction, words: progress(0.4 * fraction, words))
    distances = require_agreement(timings, workload.closeness)
    active, remarks = 1.0, []
    if isinstance(workload, SgdWorkload):
        active = ours.active_share(workload, peers[0].long)
        remarks = [f"{100 * (1 - active):.1f} % of the {peers[0].long:,} measured steps of a run changed nothing."]
    allowed = limits.limits_of(workload, active)
    for turn in range(rounds):
        # One round at a time, so that the limits are measured among the peers.
        in_turn(timings, turn)
        for limit in allowed:
            limit.measure()
        progress(0.4 + 0.6 * (turn + 1) / rounds, f"round {turn + 1} of {rounds}")
    setting = Setting(
        workload.name, limits.device_name(), workload.dtype, workload.sizes, allowed[0].us_per_step_per_run
    )
    by_name = {timing.peer.name: timing for timing in timings}
    rows = []
    for peer in peers:
        timing = by_name.get(peer.name)
        words = in_words(*distances[peer.name]) if peer.name in distances else ""
        rows.append(setting.missing(peer) if timing is None else setting.timed(timing, timings[0], words))
    rows += [setting.limit(limit, timings[0]) for limit in allowed]
    median, flipped = (max(values) for values in zip(*distances.values(), strict=True))
    compared = f"{len(timings)} programs have the same weights after {peers[0].steps} steps"
    return Result(rows, [*remarks, f"{compared}: {in_words(median, flipped)} at most."])


def _parts(sizes: Sizes, progress: Progress) -> Result:
    workload = logistic_sgd(sizes.runs, n_neurons=sizes.neurons, dim=sizes.inputs, n_samples=sizes.samples)
    # Whole epochs: an epoch's order is drawn at once, however many of its steps are taken.
    timings = first_calls(parts.peers(workload, sizes.samples), lambda done, words: progress(done / 2, words))
    # Parts are differences of small numbers: more rounds than elsewhere, the fastest of them, and no part below zero.
    rounds = 2 * sizes.rounds
    _rounds(timings, rounds, progress)
    setting = Setting("parts", limits.device_name(), workload.dtype, workload.sizes, None)
    fastest = np.maximum.accumulate([min(timing.per_step) for timing in reversed(timings)])
    rows = [
        setting.row(
            timing.peer.name,
            float(us),
            float(us / fastest[-1]),
            timing.compile_seconds,
            f"this part and those above it, fastest of {rounds} rounds; alone {number(alone)} µs",
            sizes={"steps": timing.peer.steps},
        )
        for timing, us, alone in zip(reversed(timings), fastest, np.diff(fastest, prepend=0.0), strict=True)
    ]
    return Result(rows)


def _figure_1(sizes: Sizes, progress: Progress) -> Result:
    found, compiling = figure_1(sizes.figure_runs, sizes.figure_repeats, sizes.figure_widths, progress)
    seconds, steps = sum(each.seconds for each in found), sum(each.iterations for each in found)
    trainings = sizes.figure_runs * len(found)
    setting = Setting(
        "figure_1", limits.device_name(), "float64", {"trainings": trainings, "points": 12, "most_steps": 30_000}, None
    )
    reached = ", ".join(f"{each.n_channels}: {each.zero_error}" for each in found)
    note = f"{seconds:.2f} s for {trainings} trainings, {steps:,} iterations"
    row = setting.row("widenet (pattern sets)", 1e6 * seconds / steps, 1.0, compiling, note)
    return Result([row], [f"Runs at zero training error of {sizes.figure_runs}, by channels: {reached}."])


def _linear_runs(sizes: Sizes, progress: Progress) -> Result:
    peers = [_scaled(sizes, runs, sizes.scaled_long) for runs in sizes.scaled_runs]
    return _scaling("linear_runs", sizes, peers, progress)


def _linear_steps(sizes: Sizes, progress: Progress) -> Result:
    progress(0.0, "peak memory, in a process of its own")
    peaks = memory.peak_bytes(sizes.neurons, sizes.inputs, sizes.memory_runs, sizes.memory_steps)
    peers = [_scaled(sizes, sizes.scaled_runs[0], steps) for steps in sizes.scaled_steps]
    result = _scaling("linear_steps", sizes, peers, progress)
    where = "device" if on_gpu() else "process"
    said = ", ".join(f"{peak / 1e6:,.0f} MB" for peak in peaks)
    steps = ", ".join(f"{steps:,}" for steps in sizes.memory_steps)
    remark = f"Peak memory of the {where}, {sizes.memory_runs} runs: {said} for {steps} steps."
    return Result(result.rows, [remark])


def _scaled(sizes: Sizes, runs: int, long: int) -> Peer:
    workload = logistic_sgd(runs, n_neurons=sizes.neurons, dim=sizes.inputs, n_samples=min(sizes.samples, 1024))
    return ours.sgd(workload, sizes.steps, long)


def _scaling(name: str, sizes: Sizes, peers: Sequence[Peer], progress: Progress) -> Result:
    """The same program at several sizes, in turn; ratios refer to the smallest."""
    timings = first_calls(peers, lambda fraction, words: progress(0.5 * fraction, words))
    _rounds(timings, sizes.rounds, progress)
    shape = {"neurons": sizes.neurons, "inputs": sizes.inputs, "samples": min(sizes.samples, 1024)}
    rows = []
    for timing in timings:
        own = {"runs": timing.peer.n_runs, **shape}
        setting = Setting(name, limits.device_name(), "float32", own, None)
        rows.append(setting.timed(timing, timings[0]))
    return Result(rows)


def _rounds(timings: Sequence[Timing], rounds: int, progress: Progress) -> None:
    """Time everybody in turn, in the second half of the progress."""
    for turn in range(rounds):
        in_turn(timings, turn)
        progress(0.5 + 0.5 * (turn + 1) / rounds, f"round {turn + 1} of {rounds}")


SUITE: dict[str, Callable[[Sizes, Progress], Result]] = {
    "logistic_sgd": _logistic,
    "late_hinge": _late_hinge,
    "parts": _parts,
    "xord": _xord,
    "softmax_64": _softmax_64,
    "softmax_16": _softmax_16,
    "descent": _descent,
    "flow": _flow,
    "classifier": _classifier,
    "figure_1": _figure_1,
    "linear_runs": _linear_runs,
    "linear_steps": _linear_steps,
}
"""What can be asked for, in the order of the table."""

"""How peers are compared and timed.

First all peers train from the same weights, and their results must agree. Then they are timed in turn, round after
round, so that a busy moment of the machine meets all of them. A ratio is formed inside a round; what is reported is the
median over rounds, and the range beside it.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from widenet.progress import Progress, silent

FLIP = {"float32": 1e-5, "float64": 1e-12, "flow": 1e-3}
"""A neuron further apart than this, relative to the largest weight, counts as flipped."""
TYPICAL = {"float32": 5e-6, "float64": 1e-12, "flow": 1e-4}
"""How far apart the median neuron may be. Methods for a flow have errors of their own, far larger than rounding."""
MOST_FLIPPED = {"float32": 0.01, "float64": 0.0, "flow": 0.0}
"""In float32 a pre-activation within rounding of a kink may take the other branch: that neuron leaves the rest."""


CLEARLY = 1.5
"""So many times as long is clearly longer."""


class Disagreement(Exception):
    """Two peers do not compute the same thing, so their times mean nothing."""


@dataclass(frozen=True)
class Peer:
    """Something that trains.

    Attributes:
      name: in the table.
      train: takes that many steps from the start, waits for them, and returns the weights with a leading run axis,
        as an array of its own kind.
      n_runs: how many runs a call trains.
      steps: of a timed call, after which weights are compared.
      long: of a second timed call, where a call has costs that do not depend on its steps; 0 without.
      short: of the call that is taken off the long one; `steps` if 0.
      note: how it is configured; or, without `train`, why it is missing.
    """

    name: str
    train: Callable[[int], Any] | None
    n_runs: int = 1
    steps: int = 0
    long: int = 0
    note: str = ""
    short: int = 0


@dataclass
class Timing:
    """What was measured of one peer; seconds have one entry per round.

    Attributes:
      peer: whose times these are.
      weights: after the first call of `peer.steps` steps.
      compile_seconds: what the first call took beyond the second.
      short: seconds of calls of `peer.short` or `peer.steps` steps.
      long: seconds of calls of `peer.long` steps.
    """

    peer: Peer
    weights: np.ndarray
    compile_seconds: float
    short: list[float] = field(default_factory=list)
    long: list[float] = field(default_factory=list)

    @property
    def per_step(self) -> list[float]:
        """Microseconds per step and run, one per round.

        With two lengths of call, the fixed part is taken from the fastest short call of all rounds. Interruptions only
        ever add time, so this may come out too large on a busy machine, but hardly too small. The difference of two
        calls of one round could be anything, even negative. Where the two lengths do not differ clearly, the whole
        call counts: too large, but safe.
        """
        peer = self.peer
        if not self.separable:
            steps, calls = (peer.long, self.long) if peer.long else (peer.steps, self.short)
            return [1e6 * seconds / steps / peer.n_runs for seconds in calls]
        fixed, more = min(self.short), peer.long - (peer.short or peer.steps)
        return [1e6 * (seconds - fixed) / more / peer.n_runs for seconds in self.long]

    @property
    def separable(self) -> bool:
        """Whether there are two lengths of call, and the long one takes clearly longer."""
        return bool(self.long) and min(self.long) >= CLEARLY * min(self.short)

    @property
    def whole_call(self) -> float:
        """Microseconds per step and run of the longest call, everything included; the median over rounds."""
        peer = self.peer
        seconds, steps = (self.long, peer.long) if peer.long else (self.short, peer.steps)
        return 1e6 * statistics.median(seconds) / steps / peer.n_runs


def seconds_of(call: Callable[[], Any]) -> float:
    """The duration of a call that waits for its own work."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def first_calls(peers: Sequence[Peer], progress: Progress = silent) -> list[Timing]:
    """Compile every peer, and keep the weights it arrives at. A peer that is missing is left out."""
    able = [peer for peer in peers if peer.train is not None]
    timings = []
    for place, peer in enumerate(able):
        progress(place / len(able), f"first call of {peer.name}")
        train, weights = peer.train, []
        assert train is not None
        first = seconds_of(lambda train=train, peer=peer, weights=weights: weights.append(train(peer.steps)))
        second = seconds_of(lambda train=train, peer=peer: train(peer.steps))
        timings.append(Timing(peer, as_array(weights[0]), max(0.0, first - second)))
    return timings


def as_array(weights: Any) -> np.ndarray:
    """Weights of any library as a NumPy array."""
    return np.asarray(weights.detach().cpu() if hasattr(weights, "cpu") else weights)


def in_turn(timings: Sequence[Timing], turn: int) -> None:
    """One round: everybody once. Each round begins with another peer, and every second one goes backwards."""
    first = turn % len(timings)
    order = [*timings[first:], *timings[:first]]
    for timing in order if turn % 2 == 0 else reversed(order):
        peer = timing.peer
        for times, steps in ((timing.short, peer.short or peer.steps), (timing.long, peer.long)):
            if steps:
                times.append(seconds_of(lambda train=peer.train, steps=steps: train(steps)))  # pyright: ignore


def apart(one: np.ndarray, other: np.ndarray, closeness: str) -> tuple[float, float]:
    """(median neuron's difference, share of flipped neurons), relative to the largest weight of `other`.

    A peer that trains fewer runs is compared on those.
    """
    runs = min(len(one), len(other))
    left, right = (np.asarray(weights[:runs], np.float64) for weights in (one, other))
    if not np.isfinite(right).all():  # everything is near, relative to infinity
        return float("nan"), 1.0
    difference = np.abs(left - right).max(axis=-1) / np.abs(right).max()
    # Written so that a NaN counts as flipped.
    return float(np.median(difference)), float((~(difference <= FLIP[closeness])).mean())


def require_agreement(timings: Sequence[Timing], closeness: str) -> dict[str, tuple[float, float]]:
    """How far each peer is from the first one, as `apart` says.

    Raises:
      Disagreement: a peer arrived somewhere else.
    """
    found = {}
    for timing in timings[1:]:
        median, flipped = apart(timing.weights, timings[0].weights, closeness)
        found[timing.peer.name] = median, flipped
        if timing.peer.steps != timings[0].peer.steps:
            raise ValueError("peers can only be compared after the same number of steps")
        most = f"{TYPICAL[closeness]:.0e} and {100 * MOST_FLIPPED[closeness]:g} %"
        if not (median <= TYPICAL[closeness] and flipped <= MOST_FLIPPED[closeness]):
            raise Disagreement(
                f"{timing.peer.name!r} and {timings[0].peer.name!r} start from the same weights and differ after"
                f" {timing.peer.steps} steps ({in_words(median, flipped)}; allowed in {closeness}: {most}),"
                " so nothing was timed."
            )
    return found


def in_words(median: float, flipped: float) -> str:
    """What `apart` found."""
    return f"median neuron {median:.1e} apart, {100 * flipped:.2g} % flipped"


def ratio(timing: Timing, to: Timing) -> float:
    """How many times as long this peer takes, the median over rounds."""
    return statistics.median(one / other for one, other in zip(timing.per_step, to.per_step, strict=True))

"""The rows of the table."""

import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.limits import Limit
from benchmarks.measure import Peer, Timing, ratio


@dataclass(frozen=True)
class Row:
    """One peer on one workload; what is not known is None.

    Attributes:
      workload: its name on the command line.
      peer: who trained; a name that begins with "limit" is a rate of the machine.
      device: the GPU, or the CPU and the cores in use.
      dtype: of weights and data.
      sizes: what the times depend on.
      us_per_step_per_run: microseconds, the median over rounds, after compilation.
      ratio_to_ours: how many times as long as widenet, the median of the ratios inside a round.
      compile_seconds: what the first call took beyond the second.
      limit_us: what the products of a step and run cost at the fastest rate seen on this machine.
      note: range over rounds, agreement of the weights, configuration; or why there is no number.
    """

    workload: str
    peer: str
    device: str
    dtype: str
    sizes: Mapping[str, int]
    us_per_step_per_run: float | None
    ratio_to_ours: float | None
    compile_seconds: float | None
    limit_us: float | None
    note: str

    def as_json(self) -> dict[str, Any]:
        """The row as a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class Setting:
    """What all rows of a workload share."""

    workload: str
    device: str
    dtype: str
    sizes: Mapping[str, int]
    limit_us: float | None

    def row(
        self,
        peer: str,
        us: float | None,
        ratio_to_ours: float | None,
        compile_seconds: float | None,
        *notes: str,
        sizes: Mapping[str, int] | None = None,
    ) -> Row:
        """A row of this workload; empty notes are left out."""
        return Row(
            self.workload,
            peer,
            self.device,
            self.dtype,
            {**self.sizes, **(sizes or {})},
            us,
            ratio_to_ours,
            compile_seconds,
            self.limit_us,
            "; ".join(note for note in notes if note),
        )

    def timed(self, timing: Timing, ours: Timing, *notes: str) -> Row:
        """The row of a peer that was timed."""
        per_step = timing.per_step
        us, peer = statistics.median(per_step), timing.peer
        span = f"{number(min(per_step))} to {number(max(per_step))} µs in {len(per_step)} rounds"
        whole = f"{number(timing.whole_call)} µs with all that a call of {peer.long:,} steps does" if peer.long else ""
        below = "below the limit, which counts plain products of this dtype" if us < (self.limit_us or 0) else ""
        if peer.long and not timing.separable:
            whole = f"a whole call of {peer.long:,} steps: too few to tell their cost from the rest"
        notes = (span, whole, *notes, peer.note, below)
        times_ours, sizes = ratio(timing, ours), {"steps": peer.long or peer.steps}
        return self.row(peer.name, us, times_ours, timing.compile_seconds, *notes, sizes=sizes)

    def missing(self, peer: Peer) -> Row:
        """The row of a peer that is not there, with the reason."""
        return self.row(peer.name, None, None, None, peer.note)

    def limit(self, limit: Limit, ours: Timing) -> Row:
        """The row of a limit."""
        us = limit.us_per_step_per_run
        ratio_to_ours = us / statistics.median(ours.per_step)
        return self.row(limit.name, us, ratio_to_ours, limit.compile_seconds, limit.rate(limit.seconds))


def number(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.5f}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"

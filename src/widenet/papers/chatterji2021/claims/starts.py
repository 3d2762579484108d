"""What the claims about random starts share: columns of the starts, and how often a bound fails."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Part
from widenet.claims.cases import Number, column, derived
from widenet.claims.rates import Rate
from widenet.claims.sides import Sides
from widenet.diagnostics.huberized import log_mean_loss
from widenet.papers.chatterji2021 import cluster_formulas as formulas
from widenet.papers.chatterji2021.cluster_formulas import LEVEL, tight_slack
from widenet.papers.chatterji2021.runs.first_steps import RandomFirstSteps
from widenet.papers.chatterji2021.runs.start_laws import TAIL

CONFIRMED = 0.05
"""A bound δ on how often something fails may be so small that no number of runs confirms it. What is promised then is
this share, in so many words, and still that nothing fails so often that it refutes δ."""
SURENESS = (
    "HOLDS means that the runs exclude a failure rate above δ, or above 5 % where δ is smaller than that: no number of "
    "runs could confirm some δ. The bound is broken as soon as the runs exclude δ."
)
"""What HOLDS means where a δ is that small."""
PROMISED = f"but for a share $max{{δ, {CONFIRMED:g}}}$ of the starts"
"""How each of these bounds ends."""
CENTRES_OF_XOR = np.array([[2, 0, 1, 1], [0, 2, 1, 1], [1, 1, 2, 0], [1, 1, 0, 2]]) / 2
"""Inner products, in reduced coordinates."""

PerRun = Float[np.ndarray, " run"]


class RandomStarts(RandomFirstSteps):
    """Random starts with one step, and what Section 4 promises about them."""

    length_error: float = derived(lambda cell: np.abs(np.diag(cell.products) - 1).max())  #: of ‖x‖²
    bandwidth_error: float = derived(lambda cell: abs(cell.bandwidth * cell.half_width - 1))  #: of hp
    smallest_product: float = derived(lambda cell: cell.products.min())

    fewest_helpful: PerRun = derived(lambda cell: cell.helpful.min(axis=1))  #: over the points
    most_helpful: PerRun = derived(lambda cell: cell.helpful.max(axis=1))
    fewest_harmful: PerRun = derived(lambda cell: cell.harmful.min(axis=1))
    most_harmful: PerRun = derived(lambda cell: cell.harmful.max(axis=1))
    least_helpful_sum: PerRun = derived(lambda cell: cell.helpful_sum.min(axis=1))
    largest_harmful_sum: PerRun = derived(lambda cell: cell.harmful_sum.max(axis=1))
    smallest_pull: PerRun = derived(lambda cell: cell.pulls.min(axis=1))
    largest_pull: PerRun = derived(lambda cell: cell.pulls.max(axis=1))
    most_in_window: PerRun = derived(lambda cell: cell.window.max(axis=1))
    helpful_touch: PerRun = derived(lambda cell: np.where(cell.opposite, cell.helpful_touched, 0).max(axis=(1, 2)))
    harmful_touch: PerRun = derived(lambda cell: np.where(cell.opposite, cell.harmful_touched, 0).max(axis=(1, 2)))
    helpful_together: Float[np.ndarray, "run 2"] = derived(lambda cell: cell._weakest(cell.helpful_pairs))
    harmful_together: Float[np.ndarray, "run 2"] = derived(lambda cell: cell._weakest(cell.harmful_pairs))

    log_loss: PerRun = derived(lambda cell: log_mean_loss(cell.after))  #: log L_1
    first_loss: PerRun = derived(lambda cell: np.exp(cell.log_loss))  #: L_1
    #: The largest C_4 that a run allows: log(1/L_1)/p^(1/2−β).
    margin_rate: PerRun = derived(lambda cell: -cell.log_loss / cell.half_width ** (0.5 - cell.beta))
    gain: PerRun = derived(lambda cell: (cell.after - cell.before).mean(axis=1))  #: the mean change of a margin
    all_right: Bool[np.ndarray, " run"] = derived(
        lambda cell: (cell.after > 0).all(axis=1)
    )  #: all margins are positive
    mean_gain: float = derived(lambda cell: cell.gain.mean())

    mean_sum: float = derived(lambda cell: cell.half_width * formulas.captured_mean(cell.level, cell.deviation))  #: pχ
    captured: float = derived(lambda cell: formulas.captured_share(cell.level, cell.deviation))  #: ζ
    capture_loss: float = derived(lambda cell: formulas.capture_loss(cell.level, cell.deviation))  #: a/(σ√(2π))
    capture_slack: float = derived(lambda cell: tight_slack(cell.half_width, 4 * cell.n_points))
    pull_slack: float = derived(lambda cell: formulas.pull_slack(cell.half_width, cell.beta))
    pair_share: float = derived(lambda cell: formulas.pair_share(cell.radius, cell.level, cell.deviation))
    norm_unit: float = derived(lambda cell: formulas.norm_unit(cell.dim, cell.half_width, cell.beta))  #: √(d/p^β)
    low_norm_failure: float = derived(lambda cell: formulas.lower_norm_tail(cell.dim, cell.half_width, TAIL))
    high_norm_failure: float = derived(lambda cell: formulas.upper_norm_tail(cell.dim, cell.half_width, TAIL))
    helpful_sum_failure: float = derived(lambda cell: cell._sum_failure(-1))
    harmful_sum_failure: float = derived(lambda cell: cell._sum_failure(1))

    @column
    def start_error(self) -> Number:
        """Of σ, relative."""
        return abs(self.deviation / formulas.initial_deviation(self.half_width, self.beta, self.scaling) - 1)

    @column
    def step_error(self) -> Number:
        """Of α_0, relative."""
        return abs(self.step / formulas.first_step_size(self.half_width, self.beta, self.scaling) - 1)

    @column
    def cluster_gap(self) -> float:
        """The smallest x_s·x_q − (1 − 2r) in one cluster."""
        return float((self.products - 1 + 2 * self.radius)[self.same_cluster].min())

    @column
    def opposite_excess(self) -> float:
        """The largest x_s·x_q − (1 + Δ)/2 − 2r of opposite classes."""
        return float((self.products - (1 + self.overlap) / 2 - 2 * self.radius)[self.opposite].max(initial=-1.0))

    @column
    def centre_gap(self) -> float:
        """How far inner products are from those of the centres of XOR."""
        apart = self.products - CENTRES_OF_XOR if self.products.shape == (4, 4) else np.inf
        return float(np.max(np.abs(apart)))

    @column
    def width_ratio(self) -> Number:
        """p^(β/2), over what the proof of part 7 of Lemma 15 needs."""
        return self.half_width ** (self.beta / 2) / formulas.least_width_power(self.dim, self.scaling)

    @column
    def pull_failure(self) -> float:
        """δ of part 3 of Lemma 15, on each side."""
        return formulas.pull_failure(self.half_width, self.beta, self.n_points, self.scaling)

    @column
    def pair_chance(self) -> float:
        """The least P[both captured] in one cluster."""
        return float(formulas.both_captured(self.level, self.deviation, self.products[self.same_cluster]).min())

    @column
    def touch_bound(self) -> Number:
        """How many units of I_±s may have v_i·x_q ≥ 0."""
        slack = tight_slack(self.half_width, self.n_points**2)
        return self.half_width * (formulas.opposite_share(self.overlap, self.radius) + slack)

    @column
    def window_share(self) -> float:
        """The share of units that part 6 of Lemma 15 allows in the window."""
        return formulas.window_share(self.half_width, self.step, self.deviation, self.overlap, self.radius)

    @column
    def window_failure(self) -> float:
        """δ of part 6."""
        return formulas.window_failure(self.half_width, self.step, self.deviation, self.n_points)

    def _sum_failure(self, side: int) -> float:
        """δ of part 1: n times Chernoff's bound."""
        tail = formulas.captured_sum_tail(self.level, self.deviation, self.half_width, side)
        return self.n_points * math.exp(tail)

    def _weakest(self, pairs: np.ndarray) -> np.ndarray:
        """Units that capture both points of the pair that is farthest below its own bound, and that bound."""
        slack = tight_slack(self.half_width, 2 * self.n_points**2)
        bounds = self.half_width * (formulas.both_captured(self.level, self.deviation, self.products) - slack)
        gaps = np.where(self.same_cluster, pairs - bounds, np.inf).reshape(len(pairs), -1)
        lowest = gaps.argmin(axis=1)
        counts = pairs.reshape(len(pairs), -1)[np.arange(len(pairs)), lowest]
        return np.column_stack([counts, bounds.ravel()[lowest]])


@dataclass(frozen=True, eq=False)
class Worst(Rate):
    """A rate in each of several settings.

    It is broken if it is in one, and undecided if it is in one; a bound that says something is shown first, in the
    setting that comes closest.
    """

    def _worst_of_settings(self, name: str) -> Part:
        order = {False: 0, None: 1, True: 2}
        parts = [self._answer_in(setting, name) for setting in np.unique(np.asarray(self.setting)).tolist()]
        shown = min(parts, key=lambda part: (order[part.kept], part.vacuous, -(part.tightness or 0.0)))
        totals = {total: sum(getattr(part, total) for part in parts) for total in ("n_cases", "broken", "undecided")}
        return shown.model_copy(update=totals)

    def _answer_in(self, setting: int, name: str) -> Part:
        return self._alone(setting).part(name)

    def _alone(self, setting: int) -> Rate:
        own = np.asarray(self.setting) == setting
        failed, allowed, lost = (np.broadcast_to(each, own.shape)[own] for each in self._per_run)
        sides = None if self.sides is None else self.sides.only(own)
        return Rate(failed, float(allowed[0]), lost, sides=sides, quantity=self.quantity)

    @property
    def _per_run(self) -> tuple[Any, Any, Any]:
        return self.failed, self.allowed, self.undecided


@dataclass(frozen=True, eq=False)
class Seldom(Worst):
    """ "Fails with probability at most `allowed` or `CONFIRMED`, whichever is more", in each setting.

    More failures than `allowed` explains break it too, however few they are.
    """

    def clause(self) -> dict[str, Any]:
        """The share is not δ alone, and the clause must not look as if it were."""
        return {**super().clause(), "tolerance": f"δ, or {CONFIRMED:g} where that is more"}

    def _answer_in(self, setting: int, name: str) -> Part:
        rate = self._alone(setting)
        part = rate.part(name)
        if part.kept is not None:
            return part
        return dataclasses.replace(rate, allowed=max(rate.allowed, CONFIRMED)).part(name)

    @property
    def telling(self) -> np.ndarray:
        """For each run, whether the bound can fail at all in its setting, and not always may."""
        found = np.zeros(np.asarray(self.setting).shape, bool)
        for setting in np.unique(np.asarray(self.setting)).tolist():
            alone = self._alone(setting)
            found[self.setting == setting] = bool(alone.sides and not alone.sides.vacuous and alone.allowed < 1)
        return found


def seldom(runs: RandomStarts, sides: Sides, allowed: Any) -> Seldom:
    """That these sides break with probability at most `allowed`, in every cell; one case per run."""
    rates = np.broadcast_to(allowed, (len(runs),))
    return Seldom(sides.broken, rates, ~sides.decided, sides=sides, setting=runs.cell, text=f"{sides.text}, {PROMISED}")


__all__ = ["CONFIRMED", "LEVEL", "PROMISED", "SURENESS", "RandomStarts", "Seldom", "Worst", "seldom"]

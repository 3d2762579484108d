"""What the claims of Section 3 compute from runs and from single networks: columns of both, by the same names."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import by_value, column, derived
from widenet.papers.chatterji2021 import formulas
from widenet.papers.chatterji2021.formulas import equation_5_threshold, largest_step_scale, rate_constant
from widenet.papers.chatterji2021.runs.descents import Iterates, LogisticDescent, PerStep
from widenet.papers.chatterji2021.runs.networks import SHARES, NetworkLooks, PerNetwork, PerNetworkStep


def threshold(n_samples: Any) -> Any:
    """The loss up to which (5) gives Lemma 10, solved once for each n."""
    return by_value(equation_5_threshold, np.atleast_1d(n_samples).astype(int))


class Looked(NetworkLooks):
    """Single networks, each of them one iterate."""

    band: PerNetwork = derived(lambda cell: cell.bandwidth * cell.half_width)  #: hp
    band_error: PerNetwork = derived(lambda cell: np.abs(cell.band - 1))  #: |hp − 1|
    loss_share: PerNetwork = derived(lambda cell: cell.losses / threshold(cell.n_samples))  #: L over that of (5)
    local_product: PerNetwork = derived(lambda cell: 3 * cell.local_steps * cell.local_smoothness)  #: 3αM
    segment_product: PerNetwork = derived(lambda cell: cell.step_product[:, SHARES.index(1 / 30)])  #: of Lemma 8
    share: Float[np.ndarray, " step"] = derived(lambda cell: np.array(SHARES))  #: pαL of a step, as it was chosen
    # Why a network has no step. Whether what was measured is NaN is no reason: broken arithmetic gives that too.
    has_gradient: Bool[np.ndarray, " network"] = derived(lambda cell: cell.gradient_norms != 0)
    #: whether there is a step 1/(3M): it needs a direction, and M > 0
    moves: Bool[np.ndarray, " network"] = derived(lambda cell: cell.has_gradient & (cell.hessian_norms != 0))

    @column
    def step_product(self) -> PerNetworkStep:
        """30pαL."""
        return formulas.step_product(self.half_width[:, None], self.steps, self.losses[:, None])

    @property
    def iterates(self) -> "Looked":
        """Where a run has one entry per iterate."""
        return self


class FollowedDescent(LogisticDescent):
    """Runs, with what the induction of Section 3.4 says of every iterate and every step."""

    band_error: float = derived(lambda run: abs(run.bandwidth * run.half_width - 1))  #: |hp − 1|
    first_loss: float = derived(lambda run: run.losses[0])  #: L₁
    first_norm: float = derived(lambda run: run.norms[0])  #: ‖V^(1)‖
    n_steps: int = derived(lambda run: len(run.steps))
    start_share: float = derived(lambda run: run.loss_share[0])  #: L₁ over the loss up to which (5) gives Lemma 10
    loss_share: Iterates = derived(lambda run: run.losses / threshold(run.n_samples))  #: L_t over it
    third_share: float = derived(lambda run: run.step_scale * 120 * run.half_width / np.e**2)  #: Q₁·120p/e²

    loss_before: PerStep = derived(lambda run: run.losses[:-1])  #: L_t
    norm_before: PerStep = derived(lambda run: run.norms[:-1])  #: ‖V^(t)‖
    gradient_before: PerStep = derived(lambda run: run.gradient_norms[:-1])  #: ‖∇L_t‖
    has_gradient: Bool[np.ndarray, " step"] = derived(lambda run: run.gradient_before != 0)  #: see `Looked`
    share: PerStep = derived(lambda run: np.zeros(len(run.steps)))  #: all steps count; see `Looked.share`
    number: PerStep = derived(lambda run: np.arange(1.0, len(run.steps) + 1))  #: t
    growth_after: PerStep = derived(lambda run: np.expm1(run.gained[1:]))  #: L₁/L_{t+1} − 1
    fall: PerStep = derived(lambda run: -np.expm1(-run.gains))  #: 1 − L_{t+1}/L_t
    stretched_after: PerStep = derived(lambda run: run.stretched[1:])  #: log(‖V^(t+1)‖/‖V^(1)‖)
    use_after: PerStep = derived(lambda run: run.log_use[1:])  #: `log_use` at t + 1
    use_slack: PerStep = derived(lambda run: (run.log_use - run.stretched)[:-1])  #: how much I3 has left
    #: 2 log(log(1/L_t)/log(1/L₁)): how much of the logarithm of I3 the loss has earned
    log_use: Iterates = derived(lambda run: 2 * np.log1p(run.gained / -run.log_losses[0]))
    earned: PerStep = derived(lambda run: 2 * np.log1p(run.gains / -run.log_losses[:-1]))  #: The same for a single step

    @property
    def iterates(self) -> "FollowedDescent":
        """One row per iterate."""
        return self.per("iterate")

    @column
    def scale_share(self) -> float:
        """Q₁/Q̃₁."""
        return float(self.step_scale / largest_step_scale(self.norms[0], self.losses[0], self.half_width))

    @column
    def gradient_share(self) -> Iterates:
        """‖∇L‖‖V‖/(L log(1/L)), at least 5/6 by Lemma 10."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.gradient_norms * self.norms / (self.losses * -self.log_losses)

    @column
    def rate_slack(self) -> PerStep:
        """L₁/L_t − 1 − Q₂(t − 1)."""
        allowed = self.rate_share * rate_constant(self.step_scale, self.norms[0], self.losses[0])
        return np.expm1(self.gained[:-1]) - allowed * np.arange(len(self.steps))

    @column
    def step_product(self) -> PerStep:
        """30pα_tL_t."""
        return formulas.step_product(self.half_width, self.steps, self.losses[:-1])

    @column
    def schedule_error(self) -> PerStep:
        """|α_t/(Q₁ log²(1/L_t)) − 1|."""
        return np.abs(self.steps / formulas.scheduled_step(self.step_scale, self.log_losses[:-1]) - 1)

    @column
    def efficiencies(self) -> PerStep:
        """(L_t − L_{t+1})/(α_t‖∇L_t‖²), at least 5/6 by Lemma 8."""
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = self.steps * self.gradient_norms[:-1]  # the square of ‖∇L‖ may underflow
            return -np.expm1(-self.gains) / moved * (self.losses[:-1] / self.gradient_norms[:-1])


def both(first: Any, second: Any) -> np.ndarray:
    """The cases of two tables, one after the other."""
    return np.concatenate([first, second])

"""Networks on one small training set, and the filters of one of them on the way: Figures 2, 3 and 6 of brutzkus2019.

Many runs with fresh filters are trained; one of them is shown and trained once more, piece by piece, so that its
filters are known at chosen steps. XOR is XORD with one patch: its loss is a sum over four points, twice the loss of
`train_patterns`, so it takes twice the step size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.experiments import Experiment
from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, SET_LABELS, set_index
from widenet.networks import ConvMaxPool
from widenet.papers.brutzkus2019.runs.few_widths import train_filled_up
from widenet.papers.brutzkus2019.runs.outputs import on_sets
from widenet.papers.brutzkus2019.runs.sampled_runs import INITIAL_SCALE, PER_CLASS, STEP_CONSTANT, draw_networks
from widenet.papers.brutzkus2019.sources import as_networks
from widenet.progress import Progress, silent, stretch
from widenet.records import ClosedModel, Scale
from widenet.training import on_grid
from widenet.training.xord import class_weights

XOR_STEP_CONSTANT = 0.1
"""c_η of Figure 2, which the paper does not state."""
PATIENCE = 20
"""Steps without a new best loss, after which Appendix A stops."""


class ShownRunSetting(ClosedModel):
    """Networks of one width on one training set.

    Attributes:
      xor: the four points of XOR; otherwise a decoy set of XORD.
      n_single: how many of the six negative points of the decoy set hold p₂ alone.
      margin: γ, what is asked of positive points.
      failing: show the first run that fails; otherwise the first run.
      n_times: about how many steps of the shown run are recorded.
    """

    seed: int
    half_width: int
    xor: bool = False
    n_single: int = 0
    margin: float = 1.0
    failing: bool = False
    n_runs: int = 200
    n_times: int = 90

    @property
    def step_constant(self) -> float:
        """c_η = ηk."""
        return XOR_STEP_CONSTANT if self.xor else STEP_CONSTANT

    @property
    def initial_scale(self) -> float:
        """σ_g: for XOR the largest that the theorems allow, otherwise that of Appendix A."""
        return self.step_constant / (16 * self.half_width**1.5) if self.xor else INITIAL_SCALE

    @property
    def counts(self) -> Int[np.ndarray, " 15"]:
        """How many training points have each pattern set."""
        return xor_counts() if self.xor else decoy_counts(self.n_single)

    @property
    def asked(self) -> Bool[np.ndarray, " 15"]:
        """The sets on which a network should be right."""
        return self.counts > 0 if self.xor else np.ones(15, bool)


@dataclass(frozen=True, eq=False)
class ShownRun:
    """One run at chosen steps.

    Attributes:
      steps: how many gradient steps were taken; the first is 0, the last the end of the run.
      filters: w's, then u's.
      loss: ℓ, the sum of the mean losses of the two classes.
      outputs: N on the 15 pattern sets.
    """

    steps: Int[np.ndarray, " time"]
    filters: Float[np.ndarray, "time channel 2"]
    loss: Float[np.ndarray, " time"]
    outputs: Float[np.ndarray, "time 15"]


@dataclass(frozen=True, eq=False)
class ShownRuns:
    """How all runs ended, and the one that is shown.

    Attributes:
      n_wrong_sets: of the sets that are asked for.
      shown: the number of the run that was recorded.
    """

    setting: ShownRunSetting
    train_error: Float[np.ndarray, " run"]
    n_wrong_sets: Int[np.ndarray, " run"]
    final_loss: Float[np.ndarray, " run"]
    last_step: Int[np.ndarray, " run"]
    status: Int[np.ndarray, " run"]
    shown: int
    recording: ShownRun


def xor_settings(scale: Scale, seed: int) -> list[ShownRunSetting]:
    """Figure 2: k = 50, and k = 2, of which one that fails is shown. The paper's sizes are small: both scales."""
    return [
        ShownRunSetting(seed=seed, half_width=50, xor=True),
        ShownRunSetting(seed=seed, half_width=2, xor=True, failing=True),
    ]


def decoy_settings(scale: Scale, seed: int, *, margin: float = 5.0, n_single: int = 0) -> list[ShownRunSetting]:
    """Figures 3 and 6: k = 100, and k = 2, of which one that fails is shown. Both scales."""
    return [
        ShownRunSetting(seed=seed, half_width=100, margin=margin, n_single=n_single),
        ShownRunSetting(seed=seed, half_width=2, margin=margin, n_single=n_single, failing=True),
    ]


def train_recorded(setting: ShownRunSetting, progress: Progress) -> ShownRuns:
    """Draw the networks of a setting, train them, and record one."""
    width = 2 * setting.half_width
    return record_from(draw_networks(setting.seed, width, setting.n_runs, setting.initial_scale), setting, progress)


recorded_runs = Experiment("brutzkus2019.recorded_runs", decoy_settings, train_recorded, seconds=2.0)


def record_from(networks: ConvMaxPool, setting: ShownRunSetting, progress: Progress = silent) -> ShownRuns:
    """Train these networks, and record the one that is to be shown."""
    every = np.tile(setting.counts, (networks.filters.shape[0], 1))
    factor = 2 if setting.xor else 1
    networks, step_sizes = on_grid(networks, every, factor * setting.step_constant / setting.half_width)
    patience = None if setting.xor else PATIENCE
    training = stretch(progress, 0.0, 0.5)
    runs = train_filled_up(networks, every, step_sizes, margin=setting.margin, patience=patience, progress=training)
    wrong = ~(SET_LABELS * runs.outputs > 0) & setting.asked
    elsewhere = bool((setting.asked & (setting.counts == 0)).any())
    shown = first_failure(runs.train_error, wrong, only_elsewhere=elsewhere) if setting.failing else 0
    times = steps_on_log_scale(int(runs.steps[shown]), setting.n_times)
    recording = record_run(
        np.asarray(networks.filters)[shown],
        setting.counts,
        float(step_sizes[shown]),
        times,
        margin=setting.margin,
        progress=stretch(progress, 0.5, 1.0),
    )
    n_wrong = wrong.sum(axis=1)
    return ShownRuns(setting, runs.train_error, n_wrong, runs.loss, runs.steps, runs.status, shown, recording)


def record_run(
    filters: Float[np.ndarray, "channel 2"],
    counts: Int[np.ndarray, " 15"],
    step_size: float,
    steps: Sequence[int],
    *,
    margin: float = 1.0,
    progress: Progress = silent,
) -> ShownRun:
    """Train one network and keep its filters after each of the given numbers of steps.

    Training is cut into pieces that start where the last one ended. Each piece takes exactly its steps, or fewer where
    the update has become exactly zero. The stopping rule is the caller's: it decides the last step.
    """
    times = np.array(sorted({0, *(int(step) for step in steps)}))
    outputs = on_sets(filters)
    path, seen, losses = [filters], [outputs], [loss_of(outputs, counts, margin)]
    for done, n_steps in enumerate(np.diff(times), start=1):
        options = {"margin": margin, "max_steps": int(n_steps), "patience": None, "workers": 1}
        piece = train_filled_up(as_networks(path[-1][None]), counts[None], step_size, **options)
        path.append(np.asarray(piece.network.filters[0]))
        seen.append(piece.outputs[0])
        losses.append(float(piece.loss[0]))
        progress(done / (len(times) - 1), "recording one run")
    return ShownRun(times, np.stack(path), np.array(losses), np.stack(seen))


def decoy_counts(n_single: int = 0, n_per_class: int = PER_CLASS) -> Int[np.ndarray, " 15"]:
    """Diverse positives, and as many negatives, of which `n_single` hold p₂ alone and the others both patterns."""
    counts = np.zeros(15, int)
    counts[DIVERSE_POSITIVE], counts[set_index(2)] = n_per_class, n_single
    counts[DIVERSE_NEGATIVE] = n_per_class - n_single
    return counts


def xor_counts() -> Int[np.ndarray, " 15"]:
    """The four points of XOR, as sets of one pattern."""
    counts = np.zeros(15, int)
    counts[[set_index(pattern) for pattern in (1, 2, 3, 4)]] = 1
    return counts


def steps_on_log_scale(last: int, n_times: int) -> list[int]:
    """Whole steps from 0 to the last, about evenly spaced in log(1 + step)."""
    return np.unique(np.rint(np.expm1(np.linspace(0, np.log1p(last), n_times))).astype(int)).tolist()


def first_failure(
    train_error: Float[np.ndarray, " run"], wrong: Bool[np.ndarray, "run 15"], only_elsewhere: bool
) -> int:
    """The first run that is wrong somewhere; with `only_elsewhere` it is right on the training points.

    Raises:
      ValueError: there is none.
    """
    failed = wrong.any(axis=1) & (train_error == 0) if only_elsewhere else wrong.any(axis=1)
    if not failed.any():
        raise ValueError(f"none of the {len(train_error)} runs fails in the way that is to be shown; take more runs")
    return int(failed.argmax())


def loss_of(outputs: Float[np.ndarray, " 15"], counts: Int[np.ndarray, " 15"], margin: float) -> float:
    """ℓ of a network with these outputs on the 15 sets."""
    weights, total = class_weights(counts[None])
    asked = np.where(SET_LABELS > 0, margin, 1.0)
    return float((weights[0] * np.maximum(asked - SET_LABELS * outputs, 0)).sum() / total[0])

"""Single steps of SGD against the law of the data: how much the population loss drops, and who stays coupled."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Count, Number
from widenet.claims.experiments import Experiment
from widenet.papers.li2018.formulas import batch_threshold, coupling_time
from widenet.papers.li2018.sources import Caps, Mixture, OnData, structure_numbers
from widenet.papers.li2018.user_data import needs_the_law
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training.small.softmax import cross_entropies, descend_by_batches, gradient, start_softmax, wrong_mass

PerStep = Float[np.ndarray, " step"]


class DropSetting(ClosedModel):
    """SGD on fresh batches, and `n_reference` points in place of the law; `share` is γ of the set R."""

    data: Mixture
    width: int = 500
    scaled_step: float = 0.02
    batch_size: int = 256
    n_steps: int = 60
    n_reference: int = 1000
    share: float = 0.1
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Drops(OnData):
    """Steps of SGD."""

    drops: PerStep  #: L_t − L_{t+1} on the reference
    squares: PerStep  #: Σ_r ‖∇_r‖² there
    residuals: PerStep  #: v_max
    coupled: PerStep  #: the share of neurons that have the gates of the start and |⟨w, x⟩| ≥ τ on the whole batch
    promised: PerStep  #: whether t ≤ τ/(2·max|a|·η), τ = σγ/(100B)
    share: Number  #: γ
    step_size: Number
    width: Count


def run_drops(setting: DropSetting, progress: Progress) -> Drops:
    """Train, and look at the reference before and after each step."""
    many = setting.data.draw(setting.seed, fresh=3, n_points=setting.n_reference)
    count = setting.n_steps * setting.batch_size
    sample = setting.data.draw(setting.seed, fresh=4, n_points=count)
    batches = np.arange(count).reshape(-1, setting.batch_size)
    draw = np.random.default_rng([setting.seed, 82])
    start = start_softmax(draw, setting.width, many.points.shape[1], many.n_classes)
    eta = setting.scaled_step / setting.width
    level = batch_threshold(setting.width**-0.5, setting.share, setting.batch_size)
    limit = coupling_time(level, start.largest_vote, eta)
    losses, squares, residuals, coupled = [], [], [], []
    for number, network, _ in descend_by_batches(start, sample.points, sample.classes, batches, eta):
        logits = network.logits(many.points)
        losses.append(float(cross_entropies(logits, many.classes).mean()))
        if number == setting.n_steps:
            break
        slope = gradient(network, many.points, many.classes, many.shares, logits=logits)
        squares.append(float((slope**2).sum()))
        residuals.append(many.residual_max(wrong_mass(logits, many.classes)))
        z, first = network.preactivations(sample.points[batches[number]]), start.gates(sample.points[batches[number]])
        coupled.append(float((((z >= 0) == first) & (np.abs(z) >= level)).all(axis=0).mean()))
    progress(1.0, "drops of the population loss")
    found = many.measured()
    return Drops(
        drops=-np.diff(losses),
        squares=np.array(squares),
        residuals=np.array(residuals),
        coupled=np.array(coupled),
        promised=(np.arange(setting.n_steps) <= limit).astype(np.float64),
        share=setting.share,
        step_size=eta,
        width=setting.width,
        norm_error=max(many.norm_error, sample.norm_error),
        **structure_numbers(found),
    )


def drop_settings(scale: Scale, seed: int) -> list[DropSetting]:
    """Caps of three classes."""
    many = DropSetting(data=Caps(dim=20), n_steps=90, seed=seed)
    return [many if scale is Scale.QUICK else many.model_copy(update={"width": 3200, "n_reference": 4000})]


def batch_coupling_settings(scale: Scale, seed: int) -> list[DropSetting]:
    """Steps so small that coupling on whole batches is promised for some of them."""
    width = 4000 if scale is Scale.QUICK else 20_000
    small = DropSetting(
        data=Caps(dim=20), width=width, scaled_step=1e-4, batch_size=8, n_steps=9, n_reference=200, seed=seed
    )
    return [small.model_copy(update={"seed": 1000 * seed + number}) for number in range(2)]


drops = Experiment("li2018.drops", drop_settings, run_drops, seconds=2.0, on=needs_the_law)

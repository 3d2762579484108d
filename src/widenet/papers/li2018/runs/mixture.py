"""How far the mixture of Section 7 is from the assumption (A1)."""

from dataclasses import dataclass

from widenet.claims.experiments import Experiment
from widenet.papers.li2018.sources import Gaussians
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class MixtureSetting(ClosedModel):
    """Points of the mixture."""

    data: Gaussians
    seed: int = 0


@dataclass(frozen=True)
class MixtureStructure:
    """δ, λ and the 1/(8l) that (A1) allows."""

    separation: float
    relative_diameter: float
    widest_allowed: float


def run_mixture(setting: MixtureSetting, progress: Progress) -> MixtureStructure:
    """Measured on a sample; the Gaussians themselves have no bounded support."""
    found = setting.data.draw(setting.seed).measured()
    return MixtureStructure(found.separation, found.relative_diameter, found.widest_allowed)


def mixture_settings(scale: Scale, seed: int) -> list[MixtureSetting]:
    """Points of norm 1: as many as are trained on at paper scale."""
    return [MixtureSetting(data=Gaussians(n_points=300 if scale is Scale.QUICK else 1000), seed=1000 * seed)]


mixture = Experiment("li2018.mixture", mixture_settings, run_mixture, seconds=1.0)

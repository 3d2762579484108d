"""An experiment that runs code which no import of its file names."""

import importlib
from collections.abc import Sequence

import numpy as np

from widenet.claims.experiments import Experiment
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class SneakySetting(ClosedModel):
    size: int


def run(setting: SneakySetting, progress: Progress) -> float:
    norms = importlib.import_module("widenet.claims.statistics").clopper_pearson(1, setting.size)
    return float(np.sum(norms))


def settings(scale: Scale, seed: int) -> Sequence[SneakySetting]:
    return [SneakySetting(size=3)]


sneaky = Experiment("toy.sneaky", settings, run)

"""An experiment on a reader's data."""

from collections.abc import Sequence

import numpy as np

from widenet.claims import Experiment
from widenet.data.own import recall
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale


class SumSetting(ClosedModel):
    own_data: str | None
    place: int = 0


def run(setting: SumSetting, progress: Progress) -> float:
    if setting.own_data is None:
        raise ValueError("no data at all")
    return float(np.asarray(recall(setting.own_data).inputs).sum())


def settings(scale: Scale, seed: int) -> Sequence[SumSetting]:
    return []


sums = Experiment("toy.sums", settings, run)

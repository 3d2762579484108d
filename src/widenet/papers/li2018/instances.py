"""What stands in the plane where a statement of li2018 fails: the points, by class."""

from typing import Any

from widenet.claims.instance import Instance, in_plane, instance
from widenet.papers.li2018.runs.fits import LabelFitSetting
from widenet.papers.li2018.runs.large_pieces import LargePieces
from widenet.papers.li2018.runs.near_kinks import FirstStepLosses
from widenet.papers.li2018.runs.passes import PassSetting
from widenet.papers.li2018.runs.point_structure import CrossPairs
from widenet.papers.li2018.runs.single_neurons import Pushes
from widenet.papers.li2018.sources import DataSetting, Sample


@in_plane.register(DataSetting | PassSetting | LabelFitSetting)
def of_setting(found: Any, run: int) -> Instance | None:
    """The data of a training run: those of a `kind` that is the same for every seed."""
    return of_sample(found.data.draw(0)) if found.data.kind in ("polygon", "basis") else None


@in_plane.register(LargePieces | CrossPairs | Pushes | FirstStepLosses)
def of_drawn(found: Any, run: int) -> Instance | None:
    """The points on which a case was made."""
    return None if found.sample is None else of_sample(found.sample)


def of_sample(sample: Sample) -> Instance | None:
    """Its points."""
    return instance("The data", points=sample.points, classes=sample.classes)

"""Margins with the logistic loss and its slope there. Nothing is trained here."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, column
from widenet.claims.silence import Silence
from widenet.claims.specimen import Specimen
from widenet.diagnostics.homogeneous_margins import losses
from widenet.diagnostics.huberized import pulls
from widenet.papers.chatterji2021.runs.networks import looks_on
from widenet.records import Scale

Numbers = Float[np.ndarray, " case"]


@dataclass(frozen=True, eq=False)
class Margins(Cases):
    """Some margins."""

    rows: ClassVar = "case"

    margins: Numbers  #: m
    pulls: Numbers  #: g
    losses: Numbers  #: L

    @column
    def product(self) -> Numbers:
        """g(1 − g)."""
        return self.pulls * pulls(-self.margins)

    @staticmethod
    def on(specimen: Specimen) -> "Margins | Silence":
        """The margins of networks on your data."""
        settings = looks_on(specimen)
        if isinstance(settings, Silence):
            return settings
        cases = [case for setting in settings for case in setting.networks.cases()]
        return margins_of(np.concatenate([case.network.margins(case.points, case.labels) for case in cases]))


def margins_of(margins: Numbers) -> Margins:
    """With g and L there."""
    return Margins(margins, pulls(margins), losses(margins))


def draw_margins(scale: Scale, seed: int) -> Margins:
    """From −700 to 700."""
    return margins_of(np.concatenate([np.linspace(-700, 700, 20_001), np.linspace(-30, 30, 6001), [21.0]]))

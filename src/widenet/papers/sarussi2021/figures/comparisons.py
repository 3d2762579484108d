"""Rows of comparisons: a statement of the paper beside a number, and numbers that the paper says nothing about."""

from widenet.figures.base import Comparison

OURS = "the paper prints no number; from pilot runs"
UNSAID = "nothing about this"


def beside(name: str, said: str, measured: float, band: tuple[float, float], basis: str, moved: str = "") -> Comparison:
    """What the paper says, and what was measured."""
    return Comparison(name=name, reported=said, measured=measured, interval=None, band=band, basis=basis, moved=moved)


def added(name: str, measured: float, band: tuple[float, float], basis: str, moved: str = "") -> Comparison:
    """A control, or a measurement of ours."""
    return beside(name, UNSAID, measured, band, basis, moved).model_copy(update={"added": True})

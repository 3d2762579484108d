"""What a figure is: numbers reduced from cells, and comparisons with what a paper reports. No paper in here."""

from widenet.figures.base import Comparison, Figure

__all__ = ["Comparison", "Figure"]

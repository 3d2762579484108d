"""Drawings of brutzkus2019, one file per figure."""

from widenet.plots.style import Draw

DRAWINGS: dict[str, Draw] = {}

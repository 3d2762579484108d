"""Minima placed on sets of points, and their records to be altered."""

import dataclasses

from widenet.papers.brutzkus2018.runs.bad_minima import place
from widenet.progress import silent


def placed(sets, half_widths=None, **others):
    """One cell with these sets, of one neuron per sign unless said otherwise."""
    return [place(sets, half_widths or [1] * len(sets), silent, **others)]


def altered(runs, **changes):
    """The first cell with other fields."""
    return [dataclasses.replace(runs[0], **changes)]

"""What a theorem lacks here, in plain words, by the key of the assumption that fails."""

import re

from widenet.certificates.plain_numbers import plain
from widenet.claims.base import Hypothesis
from widenet.console.wording import number

PLAIN = {
    "separable": "a linear boundary would have to separate the classes",
    "enough_samples": "there would have to be more points",
    "few_updates": "training would have to change its weights less often",
    "fixed_before": "the margin would have to be known before the points were drawn",
    "distinct_rays": "no two points may be equal, or lie in the same direction",
    "input_norm": "no point may be longer than 1",
    "unit_norm": "every point would have to have length 1",
    "unit_inputs": "every point would have to have length 1",
    "distance": "points of different classes would have to be apart",
    "opposite_distance": "no point may be the mirror image of one of another class",
    "relative_diameter": "the groups of points would have to be tighter",
    "diverse": "every point would have to hold all patterns of its class",
    "separates": "training would have to separate the points sooner",
    "separating": "training would have to separate the points sooner",
    "stays": "neurons would have to settle sooner on which points they answer to",
    "agreement": "neurons that vote for the same class would have to answer to the same points",
}
"""Assumptions that fail on real data, by the keys that papers share."""


NUMBERS = {
    "unit_norm": "largest difference of a length from 1",
    "unit_inputs": "largest difference of a length from 1",
    "distance": "least distance between classes",
    "opposite_distance": "least distance from a mirror image of another class",
    "relative_diameter": "largest diameter of a group over the least distance between classes",
    "separating": "time when they were separated, on a logarithmic clock",
    "stays": "time when a neuron last changed sides, on a logarithmic clock",
    "agreement": "runs in which they do not",
}
"""What was measured, where symbols say it in the paper."""
NAME_IN_PAPER = re.compile(r"^(\([A-Z]\d+'?\)|Eq\. \d+|I\d+): ")
ANSWERS = ("separable",)
"""Assumptions that hold or do not: how far a number behind them is off means nothing."""


def measured(hypothesis: Hypothesis) -> str:
    """What an assumption is about, without the name that the paper has for it, which says nothing elsewhere."""
    return NAME_IN_PAPER.sub("", hypothesis.name)


def lack(hypothesis: Hypothesis) -> str:
    """What would have to be otherwise, with the numbers where they say more than the words."""
    words = PLAIN.get(hypothesis.key)
    if words is None:
        return f"{measured(hypothesis)} would have to be {hypothesis.required} and is {number(hypothesis.actual)}"
    if hypothesis.key == "enough_samples" and hypothesis.slack is not None and hypothesis.slack < 0:
        return f"about {plain(float(f'{-hypothesis.slack:.2g}'))} more points would be needed for it to apply"
    if hypothesis.key in ANSWERS or isinstance(hypothesis.actual, str):
        return words
    what = NUMBERS.get(hypothesis.key) or measured(hypothesis)
    return f"{words} ({what}: {hypothesis.required} is required, {number(hypothesis.actual)} found)"

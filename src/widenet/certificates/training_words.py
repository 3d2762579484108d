"""What the networks did, in sentences for someone who knows no theory."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from widenet.certificates.portrait import Portrait
from widenet.certificates.training import Spread, Training
from widenet.certificates.words import both, more_time, percent, were
from widenet.console.wording import counted, number

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings

WORST = 4
"""So many classes are named on which networks err most."""
BETTER, FEW_POINTS = 0.8, 2.5
"""Errors are said to be fewer where they are less than this share of the others, and by more than two points."""


def about_training(findings: "Findings") -> list[str]:
    """What the networks did."""
    training, points = findings.training, findings.portrait.points
    if training is None:
        return [f"There was no time to train networks. {more_time(findings)}"]
    setting = training.setting
    said = [
        f"{counted(training.runs, 'network')} with {setting.n_neurons} neurons {were(training.runs)} trained on "
        f"{training.trained_on:,} points by SGD with the hinge loss, one point per step, from random starts, with step "
        f"size {number(setting.step_size)}"
        + (f"; {training.held_out:,} points were held out." if training.held_out else ".")
    ]
    if training.runs < training.asked:
        said[0] += f" These are {training.runs} of the {training.asked} networks asked for: time ran out."
    if training.trained_on + training.held_out < points:
        said[0] += f" The points are a random part of the {points:,}: more would have taken too long."
    said.append(_fitting(training))
    if compared := _against_flat(findings.portrait, training):
        said.append(compared)
    if training.test_error is not None:
        spread = training.test_error
        best = f" The best of them errs on {percent(spread.least)}, the worst on {percent(spread.largest)}."
        said.append(f"On points that it never saw, {about_error(training)}{best if training.runs > 1 else ''}")
    if uneven := by_class(training.class_errors, [each.name for each in findings.portrait.classes]):
        said.append(uneven)
    said.append(
        f"A neuron is on or off at a point. During training, {percent(training.flipped.mean)} of these switches "
        f"changed: {_regime(training.flipped)}"
    )
    return said


def _against_flat(portrait: Portrait, training: Training) -> str:
    """Whether networks do better on two classes than the best linear boundary; "" where that is not known."""
    network, flat, points = training.train_error.middle, training.flat_error, training.trained_on
    if len(portrait.classes) == 2 and portrait.separable and network:
        return "A linear boundary would get every point right: more passes (--time), or another step size, may help."
    if flat is None or not math.isfinite(network):
        return ""
    said = f"The best linear boundary that was found has {percent(flat)} of the same training points wrong: "
    if abs(network - flat) * points > FEW_POINTS:
        if network < BETTER * flat:
            return f"{said}a boundary that bends pays off on this data."
        if flat < BETTER * network:
            return f"{said}so far the networks have more, and their bends have gained nothing."
    return f"{said}about as many, so a linear boundary would nearly do."


MOST_OF_A_CLASS = 0.5
"""From this share of errors on one of two classes on, the errors are told class by class."""


def by_class(errors: Sequence[float | None], names: Sequence[str]) -> str:
    """On which classes the networks err most, and least; "" where that says nothing.

    Of two classes it says something where most points of one are missed: a small share of all points may be all of a
    rare class.
    """
    found = {name: error for name, error in zip(names, errors, strict=True) if error is not None}
    if len(found) < 2 or min(found.values()) == max(found.values()):
        return ""
    if len(found) == 2 and max(found.values()) < MOST_OF_A_CLASS:
        return ""
    least = min(found.values())
    worst = sorted((name for name in found if found[name] > least), key=lambda name: -found[name])
    best = [name for name in found if found[name] == least]
    first, *others = (f"{name} ({percent(found[name])}" for name in worst[:WORST])
    most = [f"{first} of its held-out points)", *(f"{other})" for other in others)]
    more = [f"{len(best) - WORST} more"] if len(best) > WORST else []
    return (
        f"By class, a typical network errs most on {both(most)}, and least on {both([*best[:WORST], *more])} "
        f"({percent(least)})."
    )


def about_error(training: Training) -> str:
    """The error on held-out points, and how well so few of them show the true one."""
    if training.test_error is None or training.test_limits is None:
        return ""
    low, high = training.test_limits
    which = "the network" if training.runs == 1 else f"a typical network (the median of {training.runs})"
    return (
        f"{which} errs on {percent(training.test_error.middle)} of the {training.held_out:,} held-out points, so its "
        f"error on all such points is between {percent(low)} and {percent(high)}, with 95\N{NO-BREAK SPACE}% certainty."
    )


def _fitting(training: Training) -> str:
    passes = f"after {counted(training.setting.max_epochs, 'pass', 'passes')} over the data"
    errors = training.train_error
    if training.fitted == training.runs and training.updates is not None:
        found = training.updates
        return (
            f"All of them got every training point right, with margin (loss exactly 0), after "
            f"{number(found.middle)} updates in the middle run ({number(found.least)} to {number(found.largest)})."
        )
    ends = [
        f"{count} {what}"
        for count, what in (
            (training.cut_off, f"{were(training.cut_off)} stopped {passes}, still changing"),
            (training.stalled, "got stuck"),
            (training.diverged, "diverged: the step is too large"),
        )
        if count
    ]
    return (
        f"{training.fitted or 'None'} of them got every training point right with margin (loss exactly 0); "
        f"{', '.join(ends)}. "
        f"The middle network ends with {percent(errors.middle)} of its training points wrong."
    )


def _regime(flipped: Spread) -> str:
    if flipped.mean < 0.05:
        return "the neurons hardly moved, so the network stays close to a linear model of its start."
    if flipped.mean > 0.2:
        return "the neurons adapted to the data, far from their random start."
    return "the neurons adapted a little to the data."

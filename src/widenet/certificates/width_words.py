"""Whether a larger network helps, whether it will generalize and how long it trains, in sentences."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from widenet.certificates.allowances import Allowance
from widenet.certificates.plain_numbers import plain
from widenet.certificates.preparation_words import about_reading
from widenet.certificates.rivals import BENDING, LINEAR, MAJORITY
from widenet.certificates.summary import about_new_points, about_updates
from widenet.certificates.width_study import Score, WidthStudy
from widenet.certificates.words import both, percent, were
from widenet.claims.meaning import Topic
from widenet.console.wording import counted

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings

NO_TIME = "Not known: the time limit was reached before a network was trained. Run it again without --time."
NONE_HELD_OUT = "Not known: no class has enough points for any to be held out."
MOST_NAMED = 4
"""So many classes are named on which networks err most."""


def does_size_help(study: WidthStudy | None) -> list[str]:
    """Whether more neurons help: the answer first, then what it rests on."""
    if study is None:
        return [NO_TIME]
    if not study.held_out:
        return [f"{NONE_HELD_OUT} {_fitting(study)}"]
    return [f"{_gain(study)} {_fitting(study)}", *filter(None, [_against_linear(study)])]


def _gain(study: WidthStudy) -> str:
    """Up to which width more neurons make fewer errors, if they do."""
    first, last, best = study.results[0], study.results[-1], study.best
    errs = f"{percent(best.score.error)} of the held-out points"
    if best.n_neurons > first.n_neurons:
        said = (
            f"Yes, up to {best.n_neurons:,} neurons: the error on held-out points falls from "
            f"{percent(first.score.error)} ({counted(first.n_neurons, 'neuron')}) to {percent(best.score.error)}."
        )
        if study.is_cut:
            return f"{said} {_no_conclusion(study)}"
        if best is last:
            return f"{said} Wider networks were not trained."
        return (
            f"{said} From there on nothing changes measurably, up to {last.n_neurons:,} ({percent(last.score.error)})."
        )
    if best is last:
        return f"Not known: only one width was trained, {best.n_neurons:,} neurons, which err on {errs}."
    if study.is_cut:
        return (
            f"Not known. Networks of {best.n_neurons:,} neurons err on {errs}, and none of the wider ones does "
            f"measurably better so far. {_no_conclusion(study)}"
        )
    least = min(study.results[1:], key=lambda each: each.score.error)
    most = max(study.difference(first.n_neurons, each.n_neurons).high for each in study.results[1:])
    seen = f" A gain of more than {percent(most)} would have been seen." if most > 0 else ""
    return (
        f"No: {counted(first.n_neurons, 'neuron')} already do as well as up to {last.n_neurons:,}. They err on {errs}, "
        f"the best of the wider ones ({least.n_neurons:,}) on {percent(least.score.error)}.{seen}"
    )


def _no_conclusion(study: WidthStudy) -> str:
    """Which widths nothing is concluded about, and what to do."""
    learning = [f"{each.n_neurons:,}" for each in study.unfinished]
    said = []
    if learning:
        said.append(
            f"Networks of {both(learning)} neurons were still learning when their {study.passes:,} passes were spent, "
            f"so nothing is concluded about how much more they gain: --effort {4 * study.effort:g} allows four times "
            "the work."
        )
    if study.cut_off:
        named = both([f"{width:,}" for width in study.cut_off])
        said.append(f"The time limit left out {named} neurons, so nothing is concluded about them.")
    return " ".join(said)


def _fitting(study: WidthStudy) -> str:
    """From which width on networks get every training point right."""
    every = f"all {study.n_networks} networks" if study.n_networks > 1 else "the network"
    last = study.results[-1]
    if study.fits_from is not None:
        where = "at every width" if study.fits_from == study.results[0].n_neurons else (
            f"from {study.fits_from:,} neurons on"
        )  # fmt: skip
        return f"{every.capitalize()} fit every training point {where}."
    some = [each for each in study.results if each.fitted]
    if some:
        most = max(some, key=lambda each: (each.fitted, -each.n_neurons))
        return (
            f"Of the networks of {most.n_neurons:,} neurons {most.fitted} of {study.n_networks} fit every training "
            "point; no width does from there on in all of them."
        )
    nearest = min(study.results, key=lambda each: each.train_error)
    late = f"{counted(last.learning, 'network')} of {last.n_neurons:,} neurons {were(last.learning)} still learning"
    spent = f", though {late}" if last.learning else ""
    return (
        f"No width fits every training point in {counted(study.passes, 'pass', 'passes')}{spent}: the nearest, "
        f"{nearest.n_neurons:,} neurons, gets {percent(nearest.train_error)} of them wrong."
    )


def _against_linear(study: WidthStudy) -> str:
    """Whether a boundary that bends pays, by networks and by others that bend."""
    network, linear = study.against(LINEAR), study.rival(LINEAR)
    if network is None or linear is None:
        return ""
    best, flat = study.best, f"A linear classifier errs on {percent(linear.score.error)} of the same points"
    bending = [each for each in study.rivals if each.name in BENDING]
    bent = min(bending, key=lambda each: each.score.wrong, default=None)
    if bent is None:
        return f"{flat}."
    other = f"{bent.name} on {percent(bent.score.error)}"
    majority = study.against(MAJORITY)
    if majority is not None and not majority.is_better:
        return f"{flat}, {other}: whether a boundary that bends would pay off is open."
    if network.is_better:
        return f"{flat}, {other}: a boundary that bends pays off."
    ours = f"networks of {counted(best.n_neurons, 'neuron')} on {percent(best.score.error)}"
    if network.is_worse:
        return f"{flat}, {ours}, {other}: these networks gain nothing over a linear classifier."
    bends = study.against(bent.name)
    if study.is_cut or (bends is not None and bends.is_worse and bent.score.wrong < linear.score.wrong):
        return f"{flat}, {ours}, {other}: whether a boundary that bends pays off is open."
    return f"{flat}, {ours}, {other}: a linear boundary does as well."


def will_it_generalize(study: WidthStudy | None) -> list[str]:
    """What is known about errors on new points, from held-out ones."""
    if study is None or not study.held_out:
        return []
    best, majority, linear = study.best, study.rival(MAJORITY), study.rival(LINEAR)
    low, high = best.score.limits
    said = (
        f"A network of {counted(best.n_neurons, 'neuron')} errs on {percent(best.score.error)} of "
        f"{best.score.points:,} held-out points (95 % limits: {percent(low)} to {percent(high)})"
    )
    if majority is not None and linear is not None:
        said += (
            f"; always answering {study.majority} errs on {percent(majority.score.error)}, a linear classifier on "
            f"{percent(linear.score.error)}"
        )
    against = study.against(MAJORITY)
    if against is not None and not against.is_better:
        said += ". So nothing measurable was learned beyond which class is the most common"
    return [f"{said}."]


def by_class(score: Score, names: Sequence[str]) -> str:
    """The error of each class; of many classes, the worst and the best."""
    found = [(name, error) for name, error in zip(names, score.class_errors, strict=True) if error is not None]
    told = [f"{name}: {percent(error)}" for name, error in found]
    if len(found) < 2:
        return ""
    if len(found) > 2 * MOST_NAMED:
        worst = sorted(found, key=lambda pair: -pair[1])
        most = both([f"{name} ({percent(error)})" for name, error in worst[:MOST_NAMED]])
        return f"Error by class: most on {most}; least on {worst[-1][0]} ({percent(worst[-1][1])})."
    return f"Error by class: {'; '.join(told)}."


def how_long(study: WidthStudy | None) -> list[str]:
    """Passes, updates and seconds of training."""
    if study is None:
        return ["Not known: the time limit was reached before a network was trained."]
    best, last = study.best, study.results[-1]
    ends = "until the loss is nearly 0" if best.passes < study.passes - 1 and best.fitted else "the work allowed"
    said = (
        f"A network of {counted(best.n_neurons, 'neuron')} makes {counted(best.passes, 'pass', 'passes')} over "
        f"{study.trained_on:,} points ({ends}): {best.updates:,} updates, {seconds(best.seconds)} on this machine"
    )
    if last is not best:
        said += f"; one of {last.n_neurons:,}, {last.updates:,} updates, {seconds(last.seconds)}"
    return [f"{said}."]


def seconds(value: float) -> str:
    """`0.3 s`, `12 s`."""
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def about_study(study: WidthStudy) -> list[str]:
    """How the networks were trained."""
    said = [
        f"Of each width {counted(study.n_networks, 'network')} with two layers and biases were trained by SGD with the "
        f"logistic loss, each from its own start on {study.trained_on:,} points, for at most "
        f"{counted(study.passes, 'pass', 'passes')}; training ends earlier once the mean loss of a pass is at most "
        f"0.01. Each network was tried on the {study.held_out // study.n_networks:,} points held out from it, "
        f"so that {study.held_out:,} points were tried at each width, all by networks that never saw them."
    ]
    if study.used < study.points:
        said.append(f"Networks got {study.used:,} of the {study.points:,} points, drawn at random.")
    if study.left_out:
        named = both([f"{width:,}" for width in study.left_out])
        said.append(
            f"Networks of {named} neurons were left out: with them there would be too few passes for all. "
            f"--effort {4 * study.effort:g} allows four times the work."
        )
    if broken := [each for each in study.results if each.diverged]:
        said.append(
            f"Training diverged in {both([f'{each.diverged} of {each.n_neurons:,} neurons' for each in broken])}."
        )
    said.append(
        "The work was fixed in advance and not by a clock. All comparisons between widths hold together with 95 % "
        "certainty; those with other models with 95 % each."
    )
    return said


def about_allowances(found: Iterable[Allowance]) -> list[str]:
    """What theorems allow, as the width grows."""
    return [_allowed(each) for each in found]


def _allowed(found: Allowance) -> str:
    what = "SGD with the hinge loss changes the weights at most {} times" if found.topic is Topic.UPDATES else (
        "the error on new points is at most {}"
    )  # fmt: skip
    write = plain if found.topic is Topic.UPDATES else _share
    who = f" ({found.id}{f'; about {found.about}' if found.about else ''})"
    known = [value for value in found.promised if value is not None]
    if not known:
        lacks = list(dict.fromkeys(found.missing))
        about = "the number of updates" if found.topic is Topic.UPDATES else "the error on new points"
        return f"Nothing is promised about {about} at any width{who}: {lacks[0]}."
    if len(known) == len(found.promised) and max(known) - min(known) <= 1e-6 * max(map(abs, known)):
        return f"{what.format(write(known[0])).capitalize()} at every width{who}: more neurons change nothing."
    told = [
        f"{width:,}: {'–' if value is None else write(value)}"
        for width, value in zip(found.widths, found.promised, strict=True)
    ]
    trend = "" if len(known) < 2 else (
        " More neurons promise less." if all(b >= a for a, b in pairwise(known)) else " More neurons promise more."
        if all(b <= a for a, b in pairwise(known)) else ""
    )  # fmt: skip
    return f"By width, {what.format('…')}{who}: {'; '.join(told)}.{trend}"


def _share(value: float) -> str:
    return "any share (the bound is above 1)" if value >= 1 else percent(value)


def bars_of_widths(study: WidthStudy, width: int = 100) -> list[str]:
    """The picture of the terminal: errors at each width and of the rivals, as bars on one scale."""
    rows: list[tuple[str, float | None, Score | None]] = [
        (f"{each.n_neurons:,} neurons", each.train_error, each.score if each.score.points else None)
        for each in study.results
    ]
    rows += [(each.name, None, each.score if each.score.points else None) for each in study.rivals]
    shown = [value for _, train, score in rows for value in (train, None if score is None else score.limits[1])]
    top = max([value for value in shown if value is not None and math.isfinite(value)], default=1.0) or 1.0
    name = max(len(row[0]) for row in rows)
    room = max(width - name - 48, 4)
    head = "error on held-out points, with 95 % limits" if width >= 90 else "with 95 % limits"
    lines = [f"  {'':{name}}  {'training':>8}  {'held-out':>8}   {head}"]
    for label, train, score in rows:
        left = "" if train is None else percent(train)
        if score is None:
            lines.append(f"  {label:{name}}  {left:>8}")
            continue
        high = round(score.limits[1] / top * room)
        here = round(score.error / top * room)
        bar = "█" * here + "─" * max(high - here, 0)
        lines.append(
            f"  {label:{name}}  {left:>8}  {percent(score.error):>8}   {bar} "
            f"{percent(score.limits[0])} to {percent(score.limits[1])}".rstrip()
        )
    return lines


def verdict_of(findings: "Findings") -> str:
    """What a larger network brings on this data, in one sentence."""
    study = findings.study
    if study is None or not study.held_out:
        return "Whether a larger network helps is not known."
    first, best, last = study.results[0], study.best, study.results[-1]
    majority, linear = study.against(MAJORITY), study.against(LINEAR)
    from_to = f"{percent(first.score.error)} → {percent(best.score.error)}"
    if majority is not None and not majority.is_better:
        return f"No network does better here than always answering {study.majority}."
    if study.is_cut and best.n_neurons == first.n_neurons:
        return "Whether a larger network helps is open: networks were still learning."
    if best.n_neurons > first.n_neurons:
        rest = "wider networks were still learning" if study.is_cut else f"from {best.n_neurons:,} on nothing changes"
        rest = "wider ones were not trained" if best is last else rest
        said = f"More neurons help up to {best.n_neurons:,}: {from_to}; {rest}"
    else:
        said = f"More neurons do not help: {best.n_neurons:,} do as well as {last.n_neurons:,}"
    if linear is not None and linear.is_worse:
        return f"{said}. A linear classifier does better."
    return f"{said}{', and so does a linear classifier' if _is_linear_enough(study) else ''}."


def _is_linear_enough(study: WidthStudy) -> bool:
    """Whether neither networks nor others that bend measurably err less than a linear classifier."""
    return "does as well" in _against_linear(study)


def about_material(findings: "Findings") -> list[str]:
    """Which data this is about: its size, and what was left out, drawn and scaled before anything was found."""
    portrait, study = findings.portrait, findings.study
    kinds = [f"{each.name} ({each.points:,})" for each in portrait.classes[:MOST_NAMED]]
    more = f" and {len(portrait.classes) - MOST_NAMED} more" if len(portrait.classes) > MOST_NAMED else ""
    said = [
        f"{counted(portrait.points, 'point')} of {counted(portrait.columns, 'column')}; {len(portrait.classes)} "
        f"classes: {', '.join(kinds)}{more}.",
        *about_reading(portrait.reading),
    ]
    scaled = "each column centred and divided by its standard deviation" if portrait.preparation.is_standardized else (
        "nothing but one centre and one scale"
    )  # fmt: skip
    drawn = "" if study is None or study.used == study.points else (
        f" Networks get {study.used:,} points, drawn at random."
    )  # fmt: skip
    dropped = len(portrait.preparation.constant_columns) + len(portrait.preparation.negligible_columns)
    left = f" {counted(dropped, 'column')} left out: constant." if dropped else ""
    return [*said, f"Scaled for networks, from training points alone: {scaled}.{left}{drawn}"]


def answers(findings: "Findings") -> list[tuple[str, str]]:
    """The three questions of the first screen, each with its answer."""
    study, names = findings.study, [each.name for each in findings.portrait.classes]
    general = [*will_it_generalize(study), *([by_class(study.best.score, names)] if study else [])]
    return [
        ("Does a larger network help?", " ".join(does_size_help(study))),
        ("Will it generalize?", " ".join(filter(None, [*general, about_new_points(findings)]))),
        ("How long does training take?", " ".join(filter(None, [*how_long(study), about_updates(findings)]))),
    ]

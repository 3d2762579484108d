"""Whether a larger network helps, whether it will generalize and how long it trains, in sentences."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from widenet.certificates.allowances import Allowance
from widenet.certificates.plain_numbers import plain
from widenet.certificates.preparation_words import about_reading
from widenet.certificates.rivals import LINEAR, MAJORITY
from widenet.certificates.summary import about_new_points, about_updates
from widenet.certificates.width_study import Score, WidthResult, WidthStudy
from widenet.certificates.widths import BATCH, FITTED_LOSS, STEP_SIZE
from widenet.certificates.words import both, percent, were
from widenet.claims.meaning import Topic
from widenet.console.wording import counted

if TYPE_CHECKING:
    from widenet.certificates.certificate import Findings
    from widenet.certificates.portrait import ClassCount

NO_TIME = "Not known: the time limit was reached before a network was trained. Run it again without --time."
NONE_HELD_OUT = "Not known: no class has two different points, so that one could be held out."
RARE = 0.1
"""Of a class with a smaller share the error rate says little."""
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
    """Whether wider networks err measurably less, and what is left open."""
    first, last, best = study.results[0], study.results[-1], study.best
    if first is last:
        alone = (
            f"Not known: only one width was trained, {counted(first.n_neurons, 'neuron')}, which errs on "
            f"{percent(first.score.error)} of the held-out points."
        )
        return " ".join([alone, *_what_is_open(study)])
    if best is not first:
        return " ".join([f"Yes: {_fall(study)}.", *_how_far(study)])
    least = min(study.results[1:], key=lambda each: each.score.error)
    numbers = (
        f"networks of {counted(first.n_neurons, 'neuron')} err on {percent(first.score.error)} of the held-out points, "
        f"the best of the wider ones ({least.n_neurons:,}) on {percent(least.score.error)}"
    )
    worse = [each for each in study.results[1:] if study.difference(first.n_neurons, each.n_neurons).is_better]
    more = f" Networks of {_named(worse)} neurons err measurably more." if worse else ""
    if study.is_open:
        reasons = " ".join(_what_is_open(study))
        return f"Not found within this work: {numbers}, which is not measurably less.{more} {reasons}"
    return f"No gain was measured: {numbers}.{more} {_what_can_be_seen(study)}"


def _fall(study: WidthStudy) -> str:
    """By how much networks that are measurably better than the narrowest err less."""
    first, best = study.results[0], study.best
    better = [each for each in study.results[1:] if study.difference(first.n_neurons, each.n_neurons).is_worse]
    shown = best if best in better else better[0]
    return (
        f"the error on held-out points falls measurably, from {percent(first.score.error)} "
        f"({counted(first.n_neurons, 'neuron')}) to {percent(shown.score.error)} ({shown.n_neurons:,} neurons)"
    )


def _how_far(study: WidthStudy) -> list[str]:
    """Up to which width that goes, as far as it was found."""
    best, last = study.best, study.results[-1]
    if study.is_open:
        return ["How far this goes was not found within this work.", *_what_is_open(study)]
    if best is last:
        return ["Wider networks were not trained."]
    return [
        f"None of the wider ones, up to {last.n_neurons:,} neurons ({percent(last.score.error)}), errs measurably less "
        f"than those of {best.n_neurons:,} ({percent(best.score.error)}).",
        _what_can_be_seen(study),
    ]


def _what_can_be_seen(study: WidthStudy) -> str:
    """The smallest difference that could have been measured."""
    fewest, points = study.fewest_seen, study.held_out
    if fewest > points:
        return f"With {counted(points, 'held-out point')} no difference between widths can be measured."
    return (
        f"With {points:,} held-out points the smallest difference that can be measured between widths is "
        f"{percent(fewest / points)} ({fewest} points, all one way)."
    )


def _what_is_open(study: WidthStudy) -> list[str]:
    """Why wider networks may err less than was found, and what to do."""
    said = []
    if study.unfinished:
        said.append(
            f"{_who_still_learned(study)} still learning when their {counted(study.passes, 'pass', 'passes')} were "
            "spent."
        )
    if study.left_out:
        said.append(f"{_numbers(study.left_out)} neurons were left out: that is more than this work allows.")
    if study.cut_off:
        said.append(f"The time limit left out {_numbers(study.cut_off)} neurons.")
    if study.ahead:
        others = both([f"{each.name} ({percent(each.score.error)})" for each in study.ahead])
        said.append(f"Measurably fewer errors are made by {others}, so better networks may exist.")
    return [*said, *filter(None, [_offered(study)])]


def _who_still_learned(study: WidthStudy) -> str:
    """`Most networks of 4 and 16 neurons were`; where they are no majority of their width, how many: `1 of 5`."""
    count = study.n_networks
    most = [each for each in study.unfinished if 2 * each.learning > count]
    few = [f"{each.learning} of {count} of {each.n_neurons:,} neurons" for each in study.unfinished if each not in most]
    all_of_them = all(each.learning == count for each in most)
    told = [f"{'networks' if all_of_them else 'most networks'} of {_named(most)} neurons"] if most else []
    told += [both(few) if most else f"of the networks {both(few)}"] if few else []
    is_one = not most and sum(each.learning for each in study.unfinished) == 1
    return f"{_capitalized(', and '.join(told))} {'was' if is_one else 'were'}"


def _offered(study: WidthStudy) -> str:
    """What more work would allow, and how much longer it takes; "" where none is offered."""
    if (offer := study.offer) is None:
        return ""
    effort = f"{offer.effort:f}".rstrip("0").rstrip(".")
    return (
        f"--effort {effort} allows {counted(offer.passes, 'pass', 'passes')} for widths up to {offer.widest:,} and "
        f"trains up to about {offer.effort / study.effort:.2g} times as long."
    )


def _named(results: Iterable[WidthResult]) -> str:
    return _numbers([each.n_neurons for each in results])


def _numbers(widths: Iterable[int]) -> str:
    return both([f"{width:,}" for width in widths])


def _capitalized(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _fitting(study: WidthStudy) -> str:
    """From which width on networks get every training point right."""
    every = f"all {study.n_networks} networks" if study.n_networks > 1 else "the network"
    last, count = study.results[-1], study.n_networks
    if study.fits_from is not None:
        where = "at every width" if study.fits_from == study.results[0].n_neurons else (
            f"from {study.fits_from:,} neurons on"
        )  # fmt: skip
        return f"{every.capitalize()} fit every training point {where}."
    most = max(study.results, key=lambda each: (each.fitted, -each.n_neurons))
    if most.fitted:
        rest = "" if most is last else f", of {last.n_neurons:,} neurons {last.fitted} of {count}"
        return (
            f"Of the networks of {counted(most.n_neurons, 'neuron')} {most.fitted} of {count} fit every training "
            f"point{rest}."
        )
    nearest = min(study.results, key=lambda each: each.train_error)
    return (
        f"No network fits every training point: the nearest, {counted(nearest.n_neurons, 'neuron')}, gets "
        f"{percent(nearest.train_error)} of them wrong after {counted(nearest.passes, 'pass', 'passes')} "
        f"({_ending(nearest, count)})."
    )


def _ending(found: WidthResult, count: int) -> str:
    """Why the networks of one width were not trained any further."""
    if found.stopped == count:
        return "then its loss was nearly 0"
    if found.spent == count:
        return "all that the work allows"
    if found.diverged == count:
        return "then its weights became infinite"
    ends = [
        (found.stopped, "stopped with a loss of nearly 0"),
        (found.spent, "spent the work"),
        (found.diverged, "diverged"),
    ]
    told = [f"{how_many} {how}" for how_many, how in ends if how_many]
    return f"of {count} networks {both(told)}"


def _against_linear(study: WidthStudy) -> str:
    """Whether a boundary that bends measurably pays, by networks or by others that bend."""
    network, linear = study.against(LINEAR), study.rival(LINEAR)
    if network is None or linear is None:
        return ""
    bending = [rival for each in study.from_linear if (rival := study.rival(each.second)) is not None]
    told = [f"{each.name} on {percent(each.score.error)}" for each in bending]
    numbers = f"a linear classifier errs on {percent(linear.score.error)} of the same points, {both(told)}"
    ahead = [each.second for each in study.from_linear if each.is_worse]
    these = f"networks of {counted(study.best.n_neurons, 'neuron')}"
    if network.is_better:
        return f"A boundary that bends pays off: {numbers}."
    how = "err measurably more than the linear classifier" if network.is_worse else "show no measurable gain by it"
    if ahead:
        return f"A boundary that bends pays off, measured by {both(ahead)}, but {these} {how}: {numbers}."
    if network.is_worse:
        return f"{_capitalized(these)} {how}: {numbers}."
    return f"No gain from a boundary that bends was measured: {numbers}."


def will_it_generalize(study: WidthStudy | None) -> list[str]:
    """What is known about errors on new points, from held-out ones."""
    if study is None or not study.held_out:
        return []
    best, majority = study.best, study.rival(MAJORITY)
    low, high = best.score.limits
    said = (
        f"A network of {counted(best.n_neurons, 'neuron')} errs on {percent(best.score.error)} of "
        f"{best.score.points:,} held-out points (approximate 95 % limits: {percent(low)} to {percent(high)})"
    )
    if majority is not None:
        said += f"; always answering {study.majority} errs on {percent(majority.score.error)}"
    against = study.against(MAJORITY)
    if against is not None and not against.is_better:
        said += ", which is not measurably more"
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


def about_rare(study: WidthStudy, names: Sequence[str]) -> str:
    """How much of a rare class networks miss; "" where no class is rare."""
    score = study.best.score
    counts = score.class_points
    rarest = min(range(len(counts)), key=lambda kind: counts[kind] or score.points)
    limits, error = score.class_limits[rarest], score.class_errors[rarest]
    if limits is None or error is None or counts[rarest] >= RARE * score.points:
        return ""
    low, high = map(percent, limits)
    return (
        f"Networks of {counted(study.best.n_neurons, 'neuron')} miss {round(error * counts[rarest]):,} of "
        f"{counts[rarest]:,} {names[rarest]} (approximate 95 % limits: {low} to {high})."
    )


def about_ranking(study: WidthStudy | None, classes: Sequence["ClassCount"]) -> str:
    """How well networks and others rank points, where the error hardly shows it; "" where it does."""
    if study is None or study.best.score.auc is None:
        return ""
    rarest = min(classes, key=lambda each: each.points)
    share = rarest.points / sum(each.points for each in classes)
    if share >= RARE and study.beats_majority:
        return ""
    found = [(each.n_neurons, each.score.auc) for each in study.results if each.score.auc is not None]
    width, highest = max(found, key=lambda pair: pair[1])
    lowest = min(value for _, value in found)
    networks = f"{lowest:.2f} to {highest:.2f}" if f"{lowest:.2f}" != f"{highest:.2f}" else f"{highest:.2f}"
    told = [f"networks {networks} (highest: {counted(width, 'neuron')})"]
    told += [
        f"{each.name} {each.score.auc:.2f}"
        for each in study.rivals
        if each.name != MAJORITY and each.score.auc is not None
    ]
    why = f"At {percent(share)} {rarest.name} the error rate can hardly show a gain. " if share < RARE else ""
    pair = both([each.name for each in classes])
    return (
        f"{why}Ranking (AUC): {both(told)}. This is the share of pairs of {pair} that are ranked rightly, 0.5 by "
        "chance; no difference of these numbers was tested."
    )


def how_long(study: WidthStudy | None) -> list[str]:
    """Passes, updates and seconds of training."""
    if study is None:
        return ["Not known: the time limit was reached before a network was trained."]
    best, last = study.best, study.results[-1]
    said = (
        f"A network of {counted(best.n_neurons, 'neuron')} makes {counted(best.passes, 'pass', 'passes')} over "
        f"{_between(study.trained_on)} points ({_ending(best, study.n_networks)}): {best.updates:,} updates, "
        f"{seconds(best.seconds)} on this machine"
    )
    if last is not best:
        said += (
            f"; one of {last.n_neurons:,} makes {last.passes:,} ({_ending(last, study.n_networks)}): "
            f"{last.updates:,} updates, {seconds(last.seconds)}"
        )
    return [f"{said}."]


def _between(counts: Sequence[int]) -> str:
    """`120`, `119 to 121`."""
    fewest, most = min(counts), max(counts)
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"


def seconds(value: float) -> str:
    """`0.3 s`, `12 s`."""
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def about_study(study: WidthStudy) -> list[str]:
    """How the networks were trained."""
    said = [
        f"Of each width {counted(study.n_networks, 'network')} with two layers and biases were trained by SGD with the "
        f"logistic loss, each from its own start on {_between(study.trained_on)} points, for at most "
        f"{counted(study.passes, 'pass', 'passes')}. Each update is of {BATCH} points, with step size {STEP_SIZE:g}, "
        "of points of length 1 in the mean square. The last quarter of the passes takes steps a tenth as large. It "
        f"begins early once the mean loss of a pass is at most {FITTED_LOSS:g}, and training ends after it.",
        f"{study.held_out:,} points were tried at each width, each by the network that it was held out from. Equal "
        "points are held out together, so no network had seen what it was tried on.",
        about_scale(study),
    ]
    if rest := study.used - study.held_out:
        said.append(
            f"{counted(rest, 'point')} of classes with a single different point {were(rest)} not held out from any."
        )
    if study.used < study.points:
        said.append(f"Networks got {study.used:,} of the {study.points:,} points, drawn at random.")
    if study.left_out:
        left_out = f"Networks of {_numbers(study.left_out)} neurons were left out"
        said.append(
            " ".join(filter(None, [f"{left_out}: with them there would be too few passes for all.", _offered(study)]))
        )
    if broken := [each for each in study.results if each.diverged]:
        said.append(
            f"Training diverged in {both([f'{each.diverged} of {each.n_neurons:,} neurons' for each in broken])}."
        )
    said.append(
        "The work was fixed in advance and not by a clock. The 95 % limits are binomial ones, and a difference is "
        "called measured if an exact sign test finds it at a risk of 5 %: for all comparisons between widths together, "
        "for those of all widths with the most common class, for those of the linear classifier with models that bend, "
        "and for any other by itself. Both are computed as if held-out points were independent; networks share "
        "training points, and the width was chosen on the same points, so they are approximate."
    )
    return said


def about_scale(study: WidthStudy) -> str:
    """What was done to the points of each network."""
    each = "each column centred and divided by its standard deviation"
    one = "one centre for all columns, and one scale"
    if study.by_column in (0, study.n_networks):
        done = each if study.by_column else one
    else:
        done = f"in {study.by_column} of {study.n_networks} parts {each}, in the others {one}"
    fewest, most = study.constant
    many = f"{fewest} to {most} columns" if fewest != most else counted(most, "column")
    constant = f"; {many} left out, constant there" if most else ""
    return f"Scaled for networks, from the training points of each alone: {done}{constant}."


class AllowedColumn(NamedTuple):
    """What theorems allow, as a column of the table of widths.

    Attributes:
      title, about: what is limited, and for which form of the data.
      cells: by width; "–" where it is not limited.
      ids: the theorems that limit it so. Equal columns would take the room of others.
    """

    title: str
    about: str
    cells: dict[int, str]
    ids: list[str]


def allowed_columns(found: Iterable[Allowance]) -> list[AllowedColumn]:
    """Those of theorems that promise something at some width."""
    columns: list[AllowedColumn] = []
    for each in filter(_known, found):
        title = "updates allowed (hinge loss)" if _is_updates(each) else "error allowed on new points"
        column = AllowedColumn(title, each.about, dict(zip(each.widths, _cells(each), strict=True)), [each.id])
        equal = next((known for known in columns if known[:3] == column[:3]), None)
        if equal is None:
            columns.append(column)
        else:
            equal.ids.append(each.id)
    return columns


def about_allowances(found: Iterable[Allowance], *, in_columns: bool = False) -> list[str]:
    """What theorems allow, as the width grows; without the numbers, where these stand in columns."""
    return [_allowed(each, in_columns) for each in found]


def _allowed(found: Allowance, in_columns: bool) -> str:
    known = _known(found)
    what = "SGD with the hinge loss changes the weights at most {} times" if _is_updates(found) else (
        "the error on new points is at most {}"
    )  # fmt: skip
    who = f" ({found.id}{f'; about {found.about}' if found.about else ''})"
    if not known:
        about = "the number of updates" if _is_updates(found) else "the error on new points"
        return f"Nothing is promised about {about} at any width{who}: {found.missing[0]}."
    cells = _cells(found)
    if len(known) == len(found.promised) and max(known) - min(known) <= 1e-6 * max(map(abs, known)):
        return f"{_capitalized(what.format(cells[0]))} at every width{who}: more neurons change nothing."
    trend = "" if len(known) < 2 else (
        " More neurons promise less." if all(b >= a for a, b in pairwise(known)) else " More neurons promise more."
        if all(b <= a for a, b in pairwise(known)) else ""
    )  # fmt: skip
    if in_columns:
        return f"{_capitalized(what.format('so many' if _is_updates(found) else 'so large'))}{who}.{trend}"
    told = [f"{width:,}: {cell}" for width, cell in zip(found.widths, cells, strict=True)]
    return f"By width, {what.format('…')}{who}: {'; '.join(told)}.{trend}"


def _is_updates(found: Allowance) -> bool:
    return found.topic is Topic.UPDATES


def _known(found: Allowance) -> list[float]:
    return [value for value in found.promised if value is not None]


def _cells(found: Allowance) -> list[str]:
    write = plain if _is_updates(found) else _share
    return ["–" if value is None else write(value) for value in found.promised]


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
    head = "error on held-out points, with approximate 95 % limits" if width >= 90 else "with 95 % limits"
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
    """What to take, where something simpler does best, and what a larger network brings on this data."""
    return " ".join(filter(None, [_linear_first(findings.study), _by_size(findings.study)]))


def _linear_first(study: WidthStudy | None) -> str:
    """That a linear classifier errs least of all that was tried; "" where it does not."""
    if study is None or not study.held_out or not study.beats_majority:
        return ""
    network, linear = study.against(LINEAR), study.rival(LINEAR)
    if network is None or linear is None or any(each.score.wrong <= linear.score.wrong for each in study.results):
        return ""
    if any(each.score.wrong < linear.score.wrong for each in study.rivals):
        return ""
    how = "measurably more" if network.is_worse else "no measurable difference"
    return (
        f"A linear classifier errs least of what was tried: on {percent(linear.score.error)} of held-out points; "
        f"networks of {counted(study.best.n_neurons, 'neuron')} on {percent(study.best.score.error)} ({how})."
    )


def _by_size(study: WidthStudy | None) -> str:
    """What a larger network brings, in one sentence."""
    if study is None or not study.held_out:
        return "Whether a larger network helps is not known."
    first, best, last = study.results[0], study.best, study.results[-1]
    if not study.beats_majority:
        common = f"do networks err measurably less than by always answering {study.majority}"
        if not study.is_open:
            return f"At no width {common}."
        return f"Whether a larger network helps {_not_found(study)}; so far at no width {common}."
    if best is not first:
        return f"More neurons help: {_fall(study)}; {_and_then(study)}."
    if study.is_open or best is last:
        return f"Whether a larger network helps {_not_found(study)}."
    errors = f"{counted(first.n_neurons, 'neuron')} err on {percent(first.score.error)} of held-out points"
    said = f"No gain from more neurons was measured: {errors}, {last.n_neurons:,} on {percent(last.score.error)}"
    network, linear = study.against(LINEAR), study.rival(LINEAR)
    if network is None or linear is None:
        return f"{said}."
    how = ", measurably less" if network.is_worse else ", measurably more" if network.is_better else ""
    return f"{said}, a linear classifier on {percent(linear.score.error)}{how}."


def _and_then(study: WidthStudy) -> str:
    """What is known beyond the width that is enough."""
    if study.is_open:
        return f"how far {_not_found(study)}"
    if study.best is study.results[-1]:
        return "wider ones were not trained"
    return f"no more was measured beyond {study.best.n_neurons:,}"


def _not_found(study: WidthStudy) -> str:
    """`was not found within this work: networks were still learning`."""
    why = [
        (any(2 * each.learning > study.n_networks for each in study.unfinished), "networks were still learning"),
        (study.unfinished, "some networks were still learning"),
        (study.cut_off, "the time limit left out wider ones"),
        (study.left_out, "wider ones were left out"),
        (study.ahead, "another model errs measurably less"),
        (True, "only one width was trained"),
    ]
    return f"was not found within this work: {next(words for is_so, words in why if is_so)}"


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
    if study is None:
        return said
    drawn = "" if study.used == study.points else f" Networks get {study.used:,} points, drawn at random."
    return [*said, f"{about_scale(study)}{drawn}"]


def answers(findings: "Findings") -> list[tuple[str, str]]:
    """The three questions of the first screen, each with its answer."""
    study, names = findings.study, [each.name for each in findings.portrait.classes]
    general = [*will_it_generalize(study)]
    if study is not None and study.held_out:
        general += [by_class(study.best.score, names), about_rare(study, names)]
    return [
        ("Does a larger network help?", " ".join(does_size_help(study))),
        ("Will it generalize?", " ".join(filter(None, [*general, about_new_points(findings)]))),
        ("How long does training take?", " ".join(filter(None, [*how_long(study), about_updates(findings)]))),
    ]

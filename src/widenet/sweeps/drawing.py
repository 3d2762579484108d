"""The picture of a sweep: curves over one axis, a family of curves or a heat map over two."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase

from widenet.console.output import write_files
from widenet.errors import InputError
from widenet.plots.axes import log_axis, named, number, number_axis, value_ticks
from widenet.plots.grids import hatch, heat_map, mark, words_of
from widenet.plots.marks import End, curve, label_ends, promise, ramp
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import BROKEN, FORMATS, MEASURED, OPEN, PAGE, SOFT, lay_out, render
from widenet.sweeps.result import RUN, STATE, WHY
from widenet.sweeps.rows import TIGHTNESS, UNMET, VACUOUS, VERDICT, WARNING
from widenet.sweeps.tables import FINISHED, NOT_APPLICABLE

ENDS = ("_promised", "_tightness", "_kept", "_vacuous")
MOST_PANELS, MOST_CURVES = 6, 9
WIDE_RANGE = 10.0
"""Positive values whose ends differ by more than this factor get a logarithmic axis."""
VERDICTS = {
    "HOLDS": ("o", MEASURED, "● it holds"),
    "HYPOTHESES_NOT_MET": (".", SOFT, "· its hypotheses are not met"),
    "VIOLATED": ("x", BROKEN, "× it is violated"),
    "INSUFFICIENT_EVIDENCE": ("d", OPEN, "♦ it is inconclusive"),
    "CONSTANT_UNSPECIFIED": ("s", OPEN, "■ it leaves a constant open"),
}
"""Of each verdict the mark, its colour, and both in words."""


def require_form(path: Path) -> Path:
    """The file, if it can be drawn.

    Raises:
      InputError: a suffix that means nothing here.
    """
    if path.suffix.removeprefix(".") not in FORMATS:
        raise InputError(f"--plot draws {', '.join(f'.{each}' for each in FORMATS)}, got {str(path)!r}.")
    return path


def write_picture(numbers: xr.Dataset, title: str, path: Path) -> Path:
    """Draw it, and write the file, whole or not at all.

    Raises:
      InputError: nothing is finished.
      StoreError: the disk refuses.
    """
    sheet = lay_out(picture_of(numbers, title).drawing())
    return write_files(path.parent, {path.name: render(sheet, path.suffix.removeprefix("."))})[0]


def picture_of(numbers: xr.Dataset, title: str) -> Picture:
    """A panel per quantity.

    Raises:
      InputError: nothing is finished, or there is no axis or no number to draw.
    """
    axes = [str(name) for name in numbers.sizes if name != RUN]
    if not (numbers[STATE] == FINISHED).any():
        raise InputError("nothing of this sweep is finished yet; run it first, in this terminal or in another.")
    if not axes:
        raise InputError("a sweep of one point has nothing to draw; give it an axis under [over].")
    names = _quantities(numbers)
    if not names:
        raise InputError("none of these quantities is a number.")
    across, others = _axes_of(numbers, axes)
    panels = [
        Panel(f"{title}: {_words(name)}", _painter(numbers, name, across), wide=True, height=_height(numbers, across))
        for name in names[:MOST_PANELS]
    ]
    return Picture(panels, _note(numbers, names, across, others))


def _axes_of(numbers: xr.Dataset, axes: Sequence[str]) -> tuple[list[str], list[str]]:
    """At most two axes that are drawn, and those over which a median is taken: seeds, then the shortest."""
    several = [name for name in axes if numbers.sizes[name] > 1] or list(axes[:1])
    wanted = sorted(several, key=lambda name: (name.rpartition(".")[2] == "seed", -numbers.sizes[name]))[:2]
    return [name for name in several if name in wanted], [name for name in axes if name not in wanted]


def _quantities(numbers: xr.Dataset) -> list[str]:
    """What is drawn: measured sides, and how close they come to what is promised."""
    skipped = (STATE, WHY, VERDICT, UNMET, VACUOUS, WARNING)
    found = [str(name) for name, array in numbers.items() if name not in skipped and array.dtype.kind == "f"]
    found = [name for name in found if not name.endswith(ENDS)]
    shown = [name for name in found if np.isfinite(numbers[name].values).any()]
    return sorted(shown, key=lambda name: name == TIGHTNESS)


def _is_map(numbers: xr.Dataset, across: Sequence[str]) -> bool:
    return len(across) == 2 and all(numbers.sizes[name] > 5 and _is_number(numbers, name) for name in across)


def _is_number(numbers: xr.Dataset, name: str) -> bool:
    return numbers[name].dtype.kind in "if"


def _height(numbers: xr.Dataset, across: Sequence[str]) -> int:
    return 380 if _is_map(numbers, across) else 280


def _painter(numbers: xr.Dataset, name: str, across: Sequence[str]) -> Any:
    if _is_map(numbers, across):
        return lambda canvas: _draw_map(canvas, numbers, name, across)
    return lambda canvas: _draw_curves(canvas, numbers, name, across)


def _middle(array: xr.DataArray, across: Sequence[str], q: float = 0.5) -> np.ndarray:
    """The median over runs and the axes that are not drawn, or another quantile; NaN where there is no number."""
    rows = array.transpose(*across, ...).values.reshape(*(array.sizes[name] for name in across), -1)
    found, some = np.full(rows.shape[:-1], np.nan), np.isfinite(rows).any(axis=-1)
    found[some] = np.nanquantile(rows[some], q, axis=-1)
    return found


def _draw_map(canvas: FigureBase, numbers: xr.Dataset, name: str, across: Sequence[str]) -> None:
    y, x = sorted(across, key=lambda each: numbers.sizes[each])
    is_share = _is_share(numbers[name])
    others = [each for each in numbers[name].dims if each not in across]
    values = numbers[name].mean(others).transpose(y, x).values if is_share else _middle(numbers[name], (y, x))
    axes, _ = heat_map(
        canvas,
        values,
        numbers[x].values.tolist(),
        numbers[y].values.tolist(),
        names=(_words(x), _words(y)),
        limits=(0, 1) if is_share else None,
        is_share=is_share,
    )
    empty = _is_empty(numbers, name)
    holes = empty.any([each for each in empty.dims if each not in across]).transpose(y, x).values
    hatch(axes, holes & np.isfinite(values))
    if VERDICT in numbers:
        for verdict, (sign, colour, _) in VERDICTS.items():
            where = (numbers[VERDICT] == verdict).any([each for each in numbers[VERDICT].dims if each not in across])
            if verdict != "HOLDS":
                mark(axes, where.transpose(y, x).values, sign, colour)


def _draw_curves(canvas: FigureBase, numbers: xr.Dataset, name: str, across: Sequence[str]) -> None:
    x, families = _x_and_families(numbers, across)
    axes = canvas.subplots()
    values = numbers[x].values.tolist()
    at = np.array(values, float) if _is_number(numbers, x) else np.arange(len(values), dtype=float)
    lines = [{}] if not families else [{families[0]: each} for each in numbers[families[0]].values.tolist()]
    lines, left = lines[:MOST_CURVES], len(lines) - MOST_CURVES
    colours = [MEASURED] if len(lines) == 1 else ramp(len(lines))
    ends = []
    for place, colour in zip(lines, colours, strict=True):
        part = numbers.sel(place)
        _draw_line(axes, part, name, x, at, colour)
        middle = _middle(part[name], [x])
        finite = np.flatnonzero(np.isfinite(middle))
        if place and len(finite):
            ends.append(End(middle[finite[-1]], words_of(next(iter(place.values()))), colour))
    _scale(axes, numbers, name, x, at, values)
    _mark_missing(axes, numbers, name, x, at)
    head = f"{_words(name)}, a line per {_words(families[0])}" if families else _words(name)
    head += _limit(numbers, name)
    named(axes, _words(x), head + (f" ({left} more are not drawn)" if left > 0 else ""))
    if ends:
        label_ends(axes, ends, _height(numbers, across))


def _x_and_families(numbers: xr.Dataset, across: Sequence[str]) -> tuple[str, list[str]]:
    """The axis along which curves go, and the one of which each value has a curve."""
    x = max(across, key=lambda each: (_is_number(numbers, each), numbers.sizes[each]))
    return x, [each for each in across if each != x]


def _draw_line(axes: Axes, part: xr.Dataset, name: str, x: str, at: np.ndarray, colour: str) -> None:
    others = [each for each in part[name].dims if each != x]
    low, middle, high = (_middle(part[name], [x], q) for q in (0.25, 0.5, 0.75))
    curve(axes, at, middle, colour, band=(low, high) if RUN in others else None, marker="")
    side = f"{name}_promised"
    if side in part:
        promise(axes, at, _middle(part[side], [x]))
    verdicts = part.get(VERDICT)
    for place, (where, height) in enumerate(zip(at, middle, strict=True)):
        sign, paint = "o", colour
        if verdicts is not None:
            word = str(verdicts.isel({x: place}).values.ravel()[0])
            sign, own, _ = VERDICTS.get(word, ("", colour, ""))
            paint = colour if word == "HOLDS" else own
        is_vacuous = VACUOUS in part and bool((part[VACUOUS].isel({x: place}) == 1).any())
        fill = PAGE if is_vacuous else paint
        axes.plot([where], [height], sign, color=paint, markerfacecolor=fill, markersize=5, zorder=5, clip_on=False)


def _limit(numbers: xr.Dataset, name: str) -> str:
    """On which side of the black line the promise is kept, where the runs that keep it show that."""
    promised, kept = numbers.get(f"{name}_promised"), numbers.get(f"{name}_kept")
    if promised is None or kept is None:
        return ""
    beyond = (numbers[name] - promised).where(kept == 1)
    if (beyond < 0).any() == (beyond > 0).any():
        return ""
    return f"; promised: at {'least' if (beyond > 0).any() else 'most'} the black line"


def _scale(axes: Axes, numbers: xr.Dataset, name: str, x: str, at: np.ndarray, values: Sequence[Any]) -> None:
    drawn = [numbers[each].values for each in (name, f"{name}_promised") if each in numbers]
    finite = np.concatenate([each[np.isfinite(each)].ravel() for each in drawn])
    if finite.size and finite.min() > 0 and finite.max() / finite.min() > WIDE_RANGE:
        log_axis(axes, "y")
    else:
        number_axis(axes, "y")
    if not _is_number(numbers, x):
        axes.set_xticks(at, [str(each) for each in values])
        return
    if at.min() > 0 and at.max() / at.min() > WIDE_RANGE:
        log_axis(axes, "x")
    value_ticks(axes, "x", at, number, room=0.01)


def _mark_missing(axes: Axes, numbers: xr.Dataset, name: str, x: str, at: np.ndarray) -> None:
    """A grey cross at the bottom where a point has no number."""
    empty = _is_empty(numbers, name)
    where = empty.any([each for each in empty.dims if each != x]).values
    if where.any():
        low, _ = axes.get_ylim()
        axes.plot(at[where], np.full(where.sum(), low), "x", color=SOFT, markersize=4, clip_on=False, zorder=6)


def _is_share(array: xr.DataArray) -> bool:
    """Whether every run has a 0 or a 1: then the share of ones says more than their median."""
    values = array.values[np.isfinite(array.values)]
    return RUN in array.dims and bool(np.isin(values, (0.0, 1.0)).all())


def _words(name: str) -> str:
    return name.removeprefix("data.").replace("_", " ") if name != "of" else "claim"


def _note(numbers: xr.Dataset, names: Sequence[str], across: Sequence[str], others: Sequence[str]) -> str:
    lines = []
    is_map, n_runs = _is_map(numbers, across), numbers.sizes.get(RUN)
    if n_runs and is_map:
        lines.append(f"Colour: the median of {n_runs} runs, or the share of them.")
    elif n_runs:
        lines.append(f"Line: the median of {n_runs} runs, in a band of the middle half.")
    if others:
        lines.append(f"Medians over {', '.join(map(_words, others))}.")
    if VERDICT in numbers:
        words, counts = np.unique(numbers[VERDICT].values[numbers[VERDICT].values != ""], return_counts=True)
        told = [f"{VERDICTS[word][2]} ({count:,})" for word, count in zip(words.tolist(), counts, strict=True)]
        told += ["○ its promise is trivial"] if not is_map and (numbers[VACUOUS] == 1).any() else []
        if told:
            lines.append(f"The claim: {', '.join(told)}.")
        if not is_map and any(f"{name}_promised" in numbers for name in names):
            lines.append("Black line: what is promised.")
    missing = _states(numbers)
    if any(_has_holes(numbers, name) for name in names[:MOST_PANELS]):
        missing += f"{', ' if missing else ''}finished points without this number"
    if missing:
        lines.append(f"{'Hatched' if is_map else 'Grey crosses'}: {missing}.")
    lines += [] if is_map else [each for name in names[:MOST_PANELS] if (each := _without_line(numbers, name, across))]
    if len(names) > MOST_PANELS:
        lines.append(f"Not drawn: {', '.join(map(_words, names[MOST_PANELS:]))}.")
    return " ".join(lines)


def _is_empty(numbers: xr.Dataset, name: str) -> xr.DataArray:
    """Which points have no number."""
    return numbers[name].isnull().all([each for each in numbers[name].dims if each not in numbers[STATE].dims])


def _has_holes(numbers: xr.Dataset, name: str) -> bool:
    """Whether a finished point has no number."""
    return bool((_is_empty(numbers, name) & (numbers[STATE] == FINISHED)).any())


def _without_line(numbers: xr.Dataset, name: str, across: Sequence[str]) -> str:
    """Which members of a family have no number at all, in a sentence; "" where each has a line."""
    _, families = _x_and_families(numbers, across)
    empty = _is_empty(numbers, name)
    idle = [
        words_of(value)
        for family in families
        for value in numbers[family].values.tolist()
        if bool(empty.sel({family: value}).all())
    ]
    return f"No line of {_words(name)}: {', '.join(idle)}." if idle else ""


def _states(numbers: xr.Dataset) -> str:
    states, counts = np.unique(numbers[STATE].values, return_counts=True)
    words: Mapping[str, str] = {NOT_APPLICABLE: "points to which the claim does not apply"}
    found = [
        f"{count:,} {words.get(state, f'{state} points')}"
        for state, count in zip(states.tolist(), counts.tolist(), strict=True)
        if state != FINISHED
    ]
    return ", ".join(found)

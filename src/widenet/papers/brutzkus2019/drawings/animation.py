"""Filters on their way, wide beside narrow, as a GIF: exploration, clustering, and what a gap at the start costs.

Frames are evenly spaced in log(8 + step) (in steps, where there are few). Between two recorded steps an arrow moves
on a straight line, which is what a gradient step does; loss and signs are those of the last recorded step. What does
not move is drawn once, and words that change now and then once per wording.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from PIL import Image

from widenet.data.xord import PATTERN_SETS, PATTERNS, SET_LABELS
from widenet.diagnostics.exploration import plus_and_minus
from widenet.papers.brutzkus2019.drawings.arrows import (
    PATTERN_COLOURS,
    PATTERN_NAMES,
    PATTERN_SIGNS,
    draw_arrows,
    is_xor,
    looking_at,
    prepare_disc,
)
from widenet.plots.style import MINUS, PLUS, styled

N_FRAMES = 84
FRAME_MS, FIRST_MS, LAST_MS = 90, 2600, 5000
N_COLOURS = 128
START_RADIUS = 0.4
"""Where a filter of the usual initial length ends; the longest of all times reaches the rim."""
RIGHT, WRONG, SOFT, GAP = "#00805c", "#b3261e", "#555555", "#ffd54a"
PACE = 8
"""Up to here steps pass evenly, later ever faster: the first steps turn the filters, the last third does the rest."""
MANY_STEPS = 50
"""From here on time runs on a log axis."""
MARGIN_PIXELS = 5
"""Around words that are cut out: their box is a little larger than they are."""


@dataclass(frozen=True)
class Words:
    """What the picture says. `start`, `middle` and `end` follow each other above the discs, the last two below."""

    title: str
    start: str
    middle: str
    end: str
    asked: str
    legend: str
    wide_end: str
    narrow_end: str


@styled
def film(numbers: xr.Dataset, words: Words) -> bytes:
    """The whole film as a GIF that repeats."""
    drawing = Drawing(figsize=(9.0, 6.6), dpi=100)
    camera = _Camera(drawing, _Stage(drawing, numbers, words))
    return _as_gif([camera.take(time) for time in frame_times(numbers)])


def frame_times(numbers: xr.Dataset) -> np.ndarray:
    """Real-valued steps, one per frame; the last is the end of the longer run."""
    last = _last_step(numbers)
    if last < MANY_STEPS:
        return np.linspace(0, last, N_FRAMES)
    times = PACE * np.expm1(np.linspace(0, np.log1p(last / PACE), N_FRAMES))
    times[-1] = last  # the logarithm and back may end a hair before it, and the last frame would not say that it is
    return times


def filters_at(numbers: xr.Dataset, network: str, time: float) -> np.ndarray:
    """The filters at a real-valued step: on the line between the recorded steps before and after it."""
    steps, filters = numbers[f"{network}_step"].values, numbers[f"{network}_filters"].values
    after = int(np.clip(np.searchsorted(steps, time), 1, len(steps) - 1))
    share = np.clip((time - steps[after - 1]) / (steps[after] - steps[after - 1]), 0, 1)
    return (1 - share) * filters[after - 1] + share * filters[after]


def recorded_before(numbers: xr.Dataset, network: str, time: float) -> int:
    """The place of the last recorded step that is not after this time."""
    return int(np.searchsorted(numbers[f"{network}_step"].values, time + 1e-9, side="right")) - 1


class _Camera:
    """Takes pictures of a stage: the still parts once, arrows and lines each time, words once per wording."""

    def __init__(self, drawing: Drawing, stage: "_Stage"):
        self.drawing, self.stage = drawing, stage
        self.canvas = FigureCanvasAgg(drawing)
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(drawing.bbox)
        self.pasted: dict[tuple[Any, ...], tuple[tuple[slice, slice], np.ndarray]] = {}

    def take(self, time: float) -> Image.Image:
        """The frame at this time."""
        self.stage.show(time)
        pieces = [self.cut_out(sign) for sign in self.stage.signs]
        frame = self.expose(self.stage.moving).copy()
        for place, pixels in pieces:
            frame[place] = pixels
        return Image.fromarray(frame)

    def expose(self, artists: Sequence[Artist]) -> np.ndarray:
        """The pixels of the still parts with these artists."""
        self.canvas.restore_region(self.still)
        for artist in artists:
            self.drawing.draw_artist(artist)
        return np.asarray(self.canvas.buffer_rgba())[..., :3]

    def cut_out(self, sign: Text) -> tuple[tuple[slice, slice], np.ndarray]:
        """Where these words stand, and their pixels with the ground below; nothing else moves there."""
        box = sign.get_bbox_patch()
        wording = (sign, sign.get_text(), sign.get_color(), sign.get_fontweight(), box and box.get_facecolor())
        if wording not in self.pasted:
            picture = self.expose([sign])
            extent = sign.get_window_extent().padded(MARGIN_PIXELS).get_points().round().astype(int)
            (left, low), (right, high) = extent.tolist()
            height = len(picture)  # rows count from the top, the extent from the bottom
            place = (slice(max(height - high, 0), height - low), slice(max(left, 0), right))
            self.pasted[wording] = (place, picture[place].copy())
        return self.pasted[wording]


class _Stage:
    """The still parts, the moving ones, and the signs (words that change), with what they show at a time."""

    def __init__(self, drawing: Drawing, numbers: xr.Dataset, words: Words):
        self.numbers, self.words, self.last = numbers, words, _last_step(numbers)
        drawing.text(0.5, 0.968, words.title, ha="center", va="center", fontsize=14, fontweight="bold")
        banner = drawing.add_axes((0, 0.895, 1, 0.05))
        banner.axis("off")
        self.banner = banner.text(0.5, 0.5, "", ha="center", va="center", fontsize=12, color="#222222")
        drawing.text(0.5, 0.228, words.legend, ha="center", va="center", fontsize=8.3, color=SOFT)
        self.panels = [_NetworkHalf(drawing, numbers, *place, words) for place in (("wide", 0.0), ("narrow", 0.5))]
        self.losses = _Losses(drawing.add_axes((0.085, 0.075, 0.885, 0.13)), numbers, self.last)
        self.moving = [artist for part in (*self.panels, self.losses) for artist in part.moving]
        self.signs = [self.banner, *(sign for panel in self.panels for sign in panel.signs)]
        for artist in (*self.moving, *self.signs):
            artist.set_animated(True)

    def show(self, time: float) -> None:
        place = 0 if time == 0 else 2 if time >= self.last else 1
        self.banner.set_text((self.words.start, self.words.middle, self.words.end)[place])
        self.banner.set_fontweight("bold" if place == 2 else "normal")
        for panel in self.panels:
            panel.show(time, place == 2)
        self.losses.show(time)


class _NetworkHalf:
    """One network: its disc of arrows, and what it gets right below."""

    def __init__(self, drawing: Drawing, numbers: xr.Dataset, name: str, left: float, words: Words):
        self.numbers, self.name, self.words = numbers, name, words
        filters = numbers[f"{name}_filters"].values
        norms = np.linalg.norm(filters, axis=-1)
        self.usual, self.longest = float(np.median(norms[0])), float(norms.max())
        disc = drawing.add_axes((left + 0.02, 0.375, 0.46, 0.53))
        prepare_disc(disc, [START_RADIUS])
        disc.set_xlim(-1.78, 1.78)
        disc.set_ylim(-1.22, 1.32)
        title = f"{filters.shape[1]} {_noun(numbers)}  (k = {filters.shape[1] // 2})"
        disc.text(0, 1.2, title, ha="center", va="center", fontsize=12, fontweight="bold")
        self.counts = []
        rows = zip(PATTERNS, PATTERN_NAMES, PATTERN_SIGNS, PATTERN_COLOURS, strict=True)
        for (across, up), pattern, sign, colour in rows:
            at = {"ha": "left" if across > 0 else "right", "va": "center", "color": colour, "fontsize": 9.5}
            disc.text(0.64 * across, 0.98 * up + 0.06, f"{pattern} means {sign}", fontweight="bold", **at)
            box = {"facecolor": "none", "edgecolor": "none", "pad": 1.2}
            self.counts.append(disc.text(0.64 * across, 0.98 * up - 0.09, "", bbox=box, **at))
        self.bundles = draw_arrows(disc, self.drawn(filters[0]))
        strip = drawing.add_axes((left + 0.02, 0.25, 0.46, 0.135))
        self.sets = _Sets(strip, numbers)
        self.verdict = strip.text(0.5, 0.985, "", ha="center", va="top", fontsize=10.5, transform=strip.transAxes)
        self.moving: list[Artist] = list(self.bundles)
        self.signs: list[Text] = [*self.counts, *self.sets.marks, self.verdict]

    def drawn(self, filters: np.ndarray) -> np.ndarray:
        """The arrows: true directions, lengths on a log scale from the usual start to the longest of all."""
        norms = np.maximum(np.linalg.norm(filters, axis=-1, keepdims=True), 1e-300)
        grown = np.log(norms / self.usual) / np.log(self.longest / self.usual)
        return filters / norms * np.clip(START_RADIUS + (1 - START_RADIUS) * grown, 0.08, 1)

    def show(self, time: float, ended: bool) -> None:
        filters = filters_at(self.numbers, self.name, time)
        for bundle, half in zip(self.bundles, reversed(plus_and_minus(self.drawn(filters))), strict=True):
            bundle.set_UVC(half[:, 0], half[:, 1])
        for text, count, colour in zip(
            self.counts, looking_at(filters, is_xor(self.numbers)), PATTERN_COLOURS, strict=True
        ):
            kind = "blue" if colour == PLUS else "red"
            verb = "looks" if count == 1 else "look"
            text.set_text(f"{count} {kind} {verb} here" if count else f"no {kind} looks here")
            text.get_bbox_patch().set_facecolor("none" if count else GAP)
        outputs = self.numbers[f"{self.name}_outputs"].values[recorded_before(self.numbers, self.name, time)]
        n_wrong = self.sets.show(outputs)
        total = len(self.sets.places)
        if ended:
            ending = self.words.narrow_end if n_wrong else self.words.wide_end
            self.verdict.set_text(ending.format(wrong=n_wrong, total=total))
        else:
            self.verdict.set_text(f"{self.words.asked} still wrong: {n_wrong} of {total}")
        self.verdict.set_color(SOFT if not ended else WRONG if n_wrong else RIGHT)
        self.verdict.set_fontweight("bold" if ended else "normal")


class _Sets:
    """A small card per kind of input: which patterns it holds, and below it whether the network's sign is right."""

    def __init__(self, axes: Axes, numbers: xr.Dataset):
        asked = np.flatnonzero(numbers.asked.values)
        order = sorted(asked, key=lambda place: (-SET_LABELS[place], PATTERN_SETS[place].sum(), place))
        self.places = np.array(order)
        trained = numbers.n_training_points.values[self.places] > 0
        gap = 0.8
        spots = np.arange(len(order)) + gap * (SET_LABELS[self.places] < 0)
        middle, side = spots.mean(), 0.84 if len(order) > 4 else 1.1
        self.spots = (spots - middle) * (1 if len(order) > 4 else 1.5)
        axes.set_xlim(-8.2, 8.2)
        axes.set_ylim(-1.3, 2.9)
        axes.axis("off")
        for spot, place, in_training in zip(self.spots, self.places, trained, strict=True):
            colour = "#222222" if in_training and len(order) > 4 else "#bbbbbb"
            axes.add_patch(
                Rectangle(
                    (spot - side / 2, -0.35),
                    side,
                    1.6,
                    facecolor="white",
                    edgecolor=colour,
                    linewidth=1.8 if colour == "#222222" else 0.8,
                )
            )
            for pattern in np.flatnonzero(PATTERN_SETS[place]):
                across, up = PATTERNS[pattern]
                axes.plot(
                    spot + 0.2 * across * side, 0.45 + 0.42 * up, marker="o", markersize=4.2, linestyle="",
                    color=PATTERN_COLOURS[pattern],
                )  # fmt: skip
        for label, sign, colour in ((1, "+", PLUS), (-1, "−", MINUS)):
            own = self.spots[SET_LABELS[self.places] == label]
            axes.text(own.mean(), 1.62, f"should be {sign}", ha="center", va="center", fontsize=8.5, color=colour)
        self.marks = [axes.text(spot, -0.85, "", ha="center", va="center", fontsize=11) for spot in self.spots]

    def show(self, outputs: np.ndarray) -> int:
        """Set the marks; how many are wrong. An output of 0 is wrong."""
        wrong = SET_LABELS[self.places] * outputs[self.places] <= 0
        for mark, bad in zip(self.marks, wrong, strict=True):
            mark.set_text("✗" if bad else "✓")
            mark.set_color(WRONG if bad else RIGHT)
            mark.set_fontweight("bold")
        return int(wrong.sum())


class _Losses:
    """The training loss of both networks so far."""

    def __init__(self, axes: Axes, numbers: xr.Dataset, last: int):
        self.numbers = numbers
        if last >= MANY_STEPS:
            axes.set_xscale("symlog", linthresh=1, linscale=0.45)
            axes.set_xticks([tick for tick in (0, 1, 3, 10, 30, 100, 300, 1000, 3000) if tick <= last])
            axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlim(0, last)
        highest = max(float(numbers[f"{name}_loss"].max()) for name in ("wide", "narrow"))
        axes.set_ylim(-0.04 * highest, 1.08 * highest)
        axes.set_ylabel("training loss", fontsize=9)
        axes.set_xlabel("gradient steps" + (" (log scale)" if last >= MANY_STEPS else ""), fontsize=9, labelpad=1)
        axes.tick_params(labelsize=8)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        styles = {"wide": ("-", "#111111", 2.4), "narrow": ((0, (4, 1.6)), "#8e44ad", 2.0)}
        self.lines, self.dots = {}, {}
        for name, (dashes, colour, width) in styles.items():
            label = f"{numbers.sizes[f'{name}_channel']} {_noun(numbers)}"
            (self.lines[name],) = axes.plot([], [], linestyle=dashes, color=colour, linewidth=width, label=label)
            (self.dots[name],) = axes.plot([], [], marker="o", color=colour, markersize=5, linestyle="")
        axes.legend(loc="lower left", fontsize=8.5, handlelength=3)
        self.moving: list[Artist] = [*self.lines.values(), *self.dots.values()]

    def show(self, time: float) -> None:
        for name, line in self.lines.items():
            steps, loss = self.numbers[f"{name}_step"].values, self.numbers[f"{name}_loss"].values
            now = float(np.interp(time, steps, loss))
            past = steps < time
            line.set_data([*steps[past], time], [*loss[past], now])
            self.dots[name].set_data([time], [now])


def _as_gif(frames: list[Image.Image]) -> bytes:
    # One palette for all frames, from every second pixel of a few of them: colours do not flicker.
    chosen = [np.asarray(frames[int(place)])[::2, ::2] for place in np.linspace(0, len(frames) - 1, 6)]
    mosaic = Image.fromarray(np.concatenate(chosen))
    named = _shades(RIGHT, WRONG, PLUS, MINUS)
    found = mosaic.quantize(N_COLOURS - len(named), method=Image.Quantize.MEDIANCUT).getpalette() or []
    colours = np.concatenate([np.array(found).reshape(-1, 3), named])
    colours[colours.min(axis=1) > 247] = 255  # the mean of white and its neighbours is a light grey
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours.ravel().tolist())
    indexed = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    times = [FIRST_MS, *[FRAME_MS] * (len(frames) - 2), LAST_MS]
    buffer = io.BytesIO()
    indexed[0].save(
        buffer, "GIF", save_all=True, append_images=indexed[1:], duration=times, loop=0, optimize=True, disposal=1
    )
    return buffer.getvalue()


def _shades(*colours: str) -> np.ndarray:
    """These colours and their mixtures with white, as they stand at the edges of letters: few pixels, much meaning."""
    pure = np.array([to_rgb(colour) for colour in colours])
    shares = np.array([1.0, 0.75, 0.5, 0.25])
    return np.rint(255 * (1 - shares[:, None, None] * (1 - pure))).astype(int).reshape(-1, 3)


def _last_step(numbers: xr.Dataset) -> int:
    return max(int(numbers[f"{name}_step"][-1]) for name in ("wide", "narrow"))


def _noun(numbers: xr.Dataset) -> str:
    return "neurons" if is_xor(numbers) else "filters"

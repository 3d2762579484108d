"""The maps of docs/maps.md: `run` computes every sweep of examples/maps, `draw` turns what it wrote into pictures.

`python -m tools.maps run OUT --jobs 16` writes one file, OUT/maps.zip, with a NetCDF file per sweep. A sweep that is
finished is in the file even if a later one is not.
"""

import argparse
import functools
import os
import time
import zipfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
import xarray as xr
from matplotlib.figure import FigureBase

from tools.gallery import IMAGES
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.plots.axes import log_axis, named, number, value_ticks
from widenet.plots.grids import border, heat_map, outline, places
from widenet.plots.marks import End, label_ends
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import COLOURS, FAINT, INK, MEASURED, OPEN, PAGE, RAMP, SOFT, lay_out, render
from widenet.store import Store
from widenet.sweeps import driver
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.export import netcdf_ready
from widenet.sweeps.order import order_of
from widenet.sweeps.progress import in_words
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import read_spec

SPECS = Path(__file__).parent.parent / "examples" / "maps"
ORDER = (
    "crossed",
    "bounds-width",
    "bounds-step",
    "bounds-samples",
    "bounds-dim",
    "clustering",
    "agreement",
    "arbitrary-labels",
    "interpolation",
    "xord-recovery",
)
"""The cheap ones first."""
RESULT = "maps.zip"


def run(out: Path, store: Store, jobs: int) -> None:
    """Compute all sweeps."""
    out.mkdir(parents=True, exist_ok=True)
    total = time.monotonic()
    for name in ORDER:
        start = time.monotonic()
        sweep = Survey(order_of(read_spec(SPECS / f"{name}.toml"), store), store)
        counts = driver.in_processes(sweep, Quiet(), jobs)
        content = bytes(netcdf_ready(dataset_of(sweep)).to_netcdf(engine="scipy"))
        with zipfile.ZipFile(out / RESULT, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{name}.nc", content)
        took, spent = time.monotonic() - start, time.monotonic() - total
        told = f"{name}: {sweep.order.n_points:,} points, {in_words(counts)}"
        print(f"{told}, {took:.0f} s, {spent:.0f} s in all", flush=True)


def numbers_in(archive: Path) -> dict[str, xr.Dataset]:
    """The sweeps of a file that `run` wrote, by name."""
    with zipfile.ZipFile(archive) as found:
        return {Path(each).stem: xr.load_dataset(found.read(each), engine="scipy") for each in found.namelist()}


GREEN = COLOURS[2]
Sweeps = dict[str, xr.Dataset]
SHORT = {
    "brutzkus2018.theorem_2": ("brutzkus2018 Th. 2", MEASURED, "-"),
    "brutzkus2018.theorem_6": ("brutzkus2018 Th. 6", MEASURED, ":"),
    "li2018.lemma_5_1": ("li2018 L. 5.1", OPEN, ":"),
    "li2018.lemma_5_2": ("li2018 L. 5.2", OPEN, "-"),
    "brutzkus2019.theorem_6_3": ("brutzkus2019 Th. 6.3", GREEN, "-"),
    "brutzkus2019.theorem_6_3_angle": ("brutzkus2019 Th. 6.3, angle", GREEN, "--"),
    "chatterji2021.theorem_1": ("chatterji2021 Th. 1", INK, "-"),
    "sarussi2021.theorem_4_1": ("sarussi2021 Th. 4.1", SOFT, "-"),
}
"""Of each claim a name, a colour per paper, and a line."""
BOUNDS = {
    "bounds-width": ("n_neurons", "neurons"),
    "bounds-step": ("step_size", "step size"),
    "bounds-samples": ("data.n_samples", "points"),
    "bounds-dim": ("data.dim", "dimension"),
}
FLOOR = (1e-13, 1e-14)
"""Where trivial promises are drawn, whose tightness is 0; those of two papers apart."""
PICTURES = ("maps.bounds", "maps.starts", "maps.crossed")


def draw(sweeps: Sweeps, folder: Path) -> None:
    """The three pictures of the page."""
    bounds = [
        Panel(f"Over {words}", functools.partial(_bounds, sweeps[name], axis, words), wide=True, height=290)
        for name, (axis, words) in BOUNDS.items()
    ]
    note = (
        "Tightness: the measured side over the promised side in the closest of 4 runs; 1 is attained. Open circles: "
        "the promise is trivial, drawn at the bottom. Small dots: hypotheses are not met. Squares: a constant is "
        "open. A claim that an axis does not reach has no line."
    )
    starts = [
        Panel("XORD is recovered", functools.partial(_recovery, sweeps["xord-recovery"]), height=270),
        Panel("Neurons of a sign in one direction", functools.partial(_clusters, sweeps["clustering"]), height=270),
        Panel("Neurons of a sign agree", functools.partial(_agreement, sweeps["agreement"]), height=270),
        Panel("A boundary proved linear", functools.partial(_linear, sweeps["agreement"]), height=270),
        Panel("XOR clusters are fitted", functools.partial(_fitted, sweeps["interpolation"]), height=270),
        Panel("Arbitrary labels are fitted", functools.partial(_labels, sweeps["arbitrary-labels"]), height=270),
    ]
    table = functools.partial(_crossed, sweeps["crossed"])
    crossed = Panel("Bounds of each paper on the points of all", table, wide=True, height=330)
    told = "Numbers are tightness. Blue: the claim holds. Amber: it is inconclusive, or leaves a constant open."
    pictures = (Picture(bounds, note), Picture(starts), Picture([crossed], told))
    for name, picture in zip(PICTURES, pictures, strict=True):
        (folder / f"{name}.png").write_bytes(render(lay_out(picture.drawing()), "png"))


def _bounds(numbers: xr.Dataset, axis: str, words: str, canvas: FigureBase) -> None:
    axes = canvas.subplots()
    at = numbers[axis].values.astype(float)
    ends = []
    for claim, (name, colour, line) in SHORT.items():
        row = numbers.sel(of=claim)
        heights = np.where(row.vacuous == 1, FLOOR[claim.startswith("li2018")], row.tightness.values)
        if not np.isfinite(heights).any():
            continue
        axes.plot(at, heights, line, color=colour, linewidth=1.3)
        for x, height, verdict, vacuous in zip(at, heights, row.verdict.values, row.vacuous.values, strict=True):
            sign = {"HYPOTHESES_NOT_MET": ".", "CONSTANT_UNSPECIFIED": "s"}.get(str(verdict), "o")
            fill = PAGE if vacuous == 1 else colour
            axes.plot([x], [height], sign if vacuous != 1 else "o", color=colour, markerfacecolor=fill, markersize=4)
        ends.append(End(heights[np.isfinite(heights)][-1], name, colour))
    log_axis(axes, "x")
    log_axis(axes, "y")
    axes.set_ylim(min(FLOOR) / 3, 3)
    value_ticks(axes, "x", at, number, room=0.01)
    named(axes, words, "tightness")
    label_ends(axes, ends, 290)


def _share(canvas: FigureBase, shares: xr.DataArray, x: str, y: str, names: tuple[str, str]):
    values = shares.transpose(y, x)
    along = (shares[x].values.tolist(), shares[y].values.tolist())
    axes, _ = heat_map(canvas, values.values, *along, names=names, limits=(0, 1), is_share=True)
    return axes


def _recovery(numbers: xr.Dataset, canvas: FigureBase) -> None:
    axes = _share(
        canvas, numbers.recovers.mean("run"), "half_width", "required_margin", ("filters of each sign, k", "margin γ")
    )
    (x,), (y,) = places(numbers.half_width.values, [120]), places(numbers.required_margin.values, [8.0])
    right, top = numbers.sizes["half_width"], numbers.sizes["required_margin"]
    border(axes, [x, x, right], [top, y, y])
    axes.annotate("promised", (right, y), (-3, -4), textcoords="offset points", ha="right", va="top")


def _clusters(numbers: xr.Dataset, canvas: FigureBase) -> None:
    shares = (numbers.angle < 5).mean("run")
    axes = _share(canvas, shares, "deviation", "slope", ("deviation of the first weights", "slope α"))
    agree = _agree(numbers).mean("run") == 1
    outline(axes, agree.transpose("slope", "deviation").values)
    axes.annotate("all agree", (0.02, 0.98), xycoords="axes fraction", ha="left", va="top")


def _agreement(numbers: xr.Dataset, canvas: FigureBase) -> None:
    _share(canvas, _agree(numbers).mean("run"), "step_size", "half_width", ("step size η", "neurons of each sign"))


def _linear(numbers: xr.Dataset, canvas: FigureBase) -> None:
    shares = (numbers.nonlinear == 0).mean("run")
    axes = _share(canvas, shares, "step_size", "half_width", ("step size η", "neurons of each sign"))
    sharp = (numbers.nonlinear_sharp == 0).mean("run") >= 0.5
    outline(axes, sharp.transpose("half_width", "step_size").values)


def _agree(numbers: xr.Dataset) -> xr.DataArray:
    return (numbers.plus_differ == 0) & (numbers.minus_differ == 0)


def _fitted(numbers: xr.Dataset, canvas: FigureBase) -> None:
    _share(canvas, (numbers.error == 0).mean("run"), "n_samples", "half_width", ("points n", "units of each sign, p"))
    reached = numbers.loss.min("run") <= xr.DataArray(
        [equation_5_threshold(int(n)) for n in numbers.n_samples.values], dims="n_samples"
    )
    if reached.any():
        raise ValueError("Theorem 1 applies to some runs: the sentence of the page says that it does not")


def _labels(numbers: xr.Dataset, canvas: FigureBase) -> None:
    _share(canvas, (numbers.accuracy == 1).mean("seed"), "data.n_points", "width", ("points N", "neurons m"))


def _crossed(numbers: xr.Dataset, canvas: FigureBase) -> None:
    axes = canvas.subplots()
    kinds = numbers.data.values.tolist()
    for row, (claim, (_, colour, _)) in enumerate(SHORT.items()):
        for column, kind in enumerate(kinds):
            words, ground, ink = _cell(numbers.sel(of=claim, data=kind))
            axes.add_patch(_tile(column, row, ground))
            axes.text(column + 0.5, row + 0.5, words, ha="center", va="center", color=ink)
        axes.text(-0.05, row + 0.5, SHORT[claim][0], ha="right", va="center", color=colour)
    axes.set_xlim(0, len(kinds))
    axes.set_ylim(len(SHORT), 0)
    axes.set_xticks(np.arange(len(kinds)) + 0.5, [str(kind).replace("_", " ") for kind in kinds])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _tile(column: int, row: int, colour: str):
    from matplotlib.patches import Rectangle

    return Rectangle((column + 0.02, row + 0.04), 0.96, 0.92, facecolor=colour, edgecolor="none")


def _cell(point: xr.Dataset) -> tuple[str, str, str]:
    """Words, ground and ink."""
    verdict, tightness = str(point.verdict.item()), float(point.tightness)
    if not verdict:
        return "does not apply", PAGE, SOFT
    if point.vacuous == 1:
        return "trivial", FAINT, SOFT
    if verdict == "HYPOTHESES_NOT_MET":
        return f"not {str(point.unmet.item()).partition(',')[0].replace('_', ' ')}", FAINT, SOFT
    words = number(tightness, 2)
    return (words, RAMP[0], INK) if verdict == "HOLDS" else (words, "#ecdcb4", INK)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "draw"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    if options.what == "draw":
        draw(numbers_in(options.folder / RESULT), IMAGES)
    else:
        run(options.folder, Store(options.store or options.folder / "store"), options.jobs)


if __name__ == "__main__":
    main()

"""What the gallery shows of a figure, made from the JSON file beside its picture, or from its archive."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from widenet.console import wording
from widenet.figures import Comparison
from widenet.figures.archive import Archived, archived
from widenet.papers import find_figure
from widenet.papers.brutzkus2019.figures.figure_1 import REPORTED, fisher_p
from widenet.run.outcomes import as_json

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY, IMAGES = DOCS / "gallery.md", DOCS / "images"
WIDTH = 125

MNIST = tuple(f"brutzkus2018.figure_{number}" for number in (1, 2, 3))
OTHERS = tuple(
    f"brutzkus2018.{name}" for name in ("updates_by_width", "updates_by_step_size", "relu_success", "three_zero_losses")
)
XORD = tuple(f"brutzkus2019.figure_{name}" for name in ("1", "1_laws", "2", "3", "5", "6"))
FILTERS = tuple(f"brutzkus2019.figure_{number}" for number in (4, 7, 8))
TEACHERS = tuple(f"sarussi2021.figure_{number}" for number in range(1, 10))
DESCENTS = tuple(f"chatterji2021.figure_{number}" for number in range(1, 5))
SOFTMAX = tuple(f"li2018.figure_{number}" for number in range(1, 8))
LAWS = XORD[1]
FIGURES = MNIST + OTHERS + SOFTMAX + XORD + FILTERS + DESCENTS + TEACHERS
"""Those of the gallery, each at quick scale."""
TEACHERS_ON_MNIST = tuple(f"sarussi2021.figure_{number}" for number in (2, 6, 7))
AT_PAPER_SCALE = MNIST + FILTERS + tuple(name for name in SOFTMAX if name != "li2018.figure_3") + TEACHERS_ON_MNIST
"""Those that it shows at paper scale too."""

RUNS = ("run", "wide_channel", "narrow_channel", "wide_step", "narrow_step")
"""Long axes that are not kept beside a picture: of runs on XOR and XORD."""

Row = dict[str, Any]


def between(text: str, first: str, last: str) -> str:
    """What stands between two markers."""
    return text.partition(first)[2].partition(last)[0]


def put_between(page: Path, first: str, last: str, content: str) -> None:
    """Replace what stands between two markers of a page."""
    before, found, rest = page.read_text(encoding="utf-8").partition(first)
    if not found:
        raise ValueError(f"{page.name} has no {first}")
    page.write_text(f"{before}{first}\n{content}{last}{rest.partition(last)[2]}", encoding="utf-8")


def file_of(figure: str, scale: str, suffix: str = "json") -> Path:
    """Where the picture of a figure is kept, and the numbers of a quick one; at paper scale they are in its archive."""
    return IMAGES / (f"{figure}.{suffix}" if scale == "quick" else f"{figure}.paper.{suffix}")


def stored(figure: str, scale: str) -> Row:
    """What is kept of a figure at a scale; of its numbers at paper scale only the comparisons (`archived` has all)."""
    if scale == "quick":
        return json.loads(file_of(figure, scale).read_text(encoding="utf-8"))
    found = archived(figure)
    if found is None:
        raise ValueError(f"there is no archive of {figure}; widenet figure {figure} --scale paper --archive makes it")
    return row_of(found)


def row_of(found: Archived) -> Row:
    """An archive as a row of `widenet figure --json`."""
    comparisons = [as_json(each) | {"verdict": each.verdict} for each in found.comparisons]
    fields = ("id", "scale", "seed", "config", "seconds", "machine", "versions", "version")
    return {name: getattr(found, name) for name in fields} | {"comparisons": comparisons}


def marker_of(figure: str, scale: str) -> str:
    """The line of the gallery after which the table of a figure stands."""
    return f"<!-- {'table of' if scale == 'quick' else 'paper scale of'}: {figure} -->"


def kept(row: Row) -> Row:
    """What is kept of the file that `widenet figure` wrote: no long axes, and nothing that differs from run to run."""
    long = RUNS if row["id"] in XORD else ()
    quantities = {name: each for name, each in row["quantities"].items() if not set(each["axes"]) & set(long)}
    coordinates = {name: values for name, values in row["coordinates"].items() if name not in long}
    rest = {name: value for name, value in row.items() if name not in ("cells", "reused")}
    return rest | {"quantities": quantities, "coordinates": coordinates}


def block_of(row: Row) -> str:
    """What stands between the markers: the caption where the page has no other words, the table, and what was run."""
    caption = f"{_wrapped(find_figure(row['id']).caption)}\n" if row["id"] in XORD else ""
    return f"{caption}{_table(row)}\n{_wrapped(conditions_of(row))}"


def conditions_of(row: Row) -> str:
    """Under which the numbers were found. The cores of a CPU are shared, and a time there says little."""
    machine = (
        "CPU" if row["machine"].startswith("cpu") else f"{row['machine']}, {row['seconds']:.0f}\N{NO-BREAK SPACE}s"
    )
    return f"Scale {row['scale']}, seed {row['seed']}; {_sizes(row['config'])}; {machine}; version {row['version']}."


def choices_of(row: Row) -> str:
    """The shares of runs at zero training error under every choice of `figure_1_laws`, in percent."""
    n_runs, widths = row["attributes"]["n_runs"], row["coordinates"]["channels"]
    lines = [
        "| choice | " + " | ".join(f"{width} channels" for width in widths) + " | smallest p |",
        "|---" * (len(widths) + 2) + "|",
        "| reported, 100 runs | " + " | ".join(f"{REPORTED[width]}" for width in widths) + " | – |",
    ]
    for choice, counts in zip(row["coordinates"]["choice"], row["quantities"]["solved"]["values"], strict=True):
        smallest = min(fisher_p(count, n_runs, REPORTED[width]) for width, count in zip(widths, counts, strict=True))
        shares = " | ".join(f"{100 * count / n_runs:.1f}" for count in counts)
        lines.append(f"| {choice} | {shares} | {smallest:.2g} |")
    return "\n".join(lines) + "\n"


def _table(row: Row) -> str:
    """The comparisons, and below them why each band is what it is."""
    lines = ["| quantity | the paper | measured | 95 % interval | agrees if | |", "|---|---|---|---|---|---|"]
    comparisons = [
        Comparison.model_validate_json(
            json.dumps({name: each[name] for name in Comparison.model_fields if name in each})
        )
        for each in row["comparisons"]
    ]
    reasons = wording.band_reasons(comparisons)
    for comparison in comparisons:
        reason = wording.reason(comparison)
        mark = f" [{wording.mark(reasons.index(reason))}]" if reason else ""
        cells = [
            f"{comparison.name}{mark}".replace("|", "\\|"),
            comparison.reported,
            wording.number(comparison.measured),
            wording.interval(comparison.interval),
            wording.band(comparison),
            comparison.verdict,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    below = [f"\n{_wrapped(f'[{wording.mark(place)}] {reason}.')}" for place, reason in enumerate(reasons)]
    return "\n".join(lines) + "\n" + "".join(below)


def _sizes(config: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> str:
    """The settings of the cells, one group per experiment; what differs between its cells as a list of values."""
    if isinstance(config, Mapping):  # how earlier versions wrote the sizes of a scale
        return "; ".join(f"{name} {value}" for name, value in config.items())
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for setting in config:
        groups.setdefault(setting["experiment"], []).append(setting)
    return ", ".join(_group(experiment, settings) for experiment, settings in groups.items())


def _group(experiment: str, settings: list[Mapping[str, Any]]) -> str:
    fields = []
    for name in settings[0]:
        if name not in ("experiment", "seed"):
            values = dict.fromkeys(json.dumps(setting[name], ensure_ascii=False) for setting in settings)
            fields.append(f"{name} {', '.join(values)}".replace('"', ""))
    return f"{wording.counted(len(settings), 'cell')} of `{experiment}` ({'; '.join(fields)})"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"

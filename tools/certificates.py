"""Makes the certificates of real data again that docs/gallery-certificates.md shows.

python -m tools.certificates            all of them (some minutes)
python -m tools.certificates iris …     these alone
"""

import functools
import json
import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import widenet as wn
from tools.gallery import DOCS, IMAGES, WIDTH, put_between
from tools.refresh import keep_picture
from widenet.certificates import Certificate, words
from widenet.certificates.summary import headlines, in_short
from widenet.certificates.width_words import about_material, answers, verdict_of
from widenet.store import Store

PAGE = DOCS / "gallery-certificates.md"
TABLE, END = "<!-- table of certificates -->", "<!-- end of certificates -->"
SHIPPED = Path(wn.__file__).parent / "report" / "certified.json"
"""What a report shows of them."""
COLOURS = 64

Points = tuple[Any, Any]
"""Inputs, and labels in words."""


def from_sklearn(name: str) -> Points:
    """A data set of scikit-learn, with the names of its columns and classes."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(as_frame=True)
    return found.data, found.target_names[found.target].astype(str)


def from_mnist(*digits: int) -> Points:
    """All training images of these digits."""
    images, labels = wn.data.load_mnist()
    wanted = np.isin(labels, digits)
    return images[wanted].astype(float), labels[wanted].astype(str)


def spiral() -> Points:
    """Two arms that wind one and a half times around each other."""
    draw, arm = np.random.default_rng(0), np.arange(400) % 2
    radius = np.sqrt(draw.uniform(0.05, 1, 400))
    angle = 3 * np.pi * radius + np.pi * arm
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return points + 0.02 * draw.normal(size=points.shape), np.array(["one", "other"])[arm]


def moons() -> Points:
    """Two moons that overlap."""
    from sklearn.datasets import make_moons

    points, labels = make_moons(600, noise=0.25, random_state=0)
    return points, np.array(["upper", "lower"])[labels]


def rare() -> Points:
    """20 of 2,000 points are of a class that lies apart by two standard deviations of one column."""
    draw, is_rare = np.random.default_rng(0), np.arange(2000) < 20
    points = draw.normal(size=(2000, 5))
    points[:, 0] += 2.0 * is_rare
    return points, np.where(is_rare, "rare", "common")


def wide() -> Points:
    """60 points of 200 columns, with labels that mean nothing."""
    draw = np.random.default_rng(0)
    return draw.normal(size=(60, 200)), np.array(["heads", "tails"])[draw.integers(0, 2, 60)]


def many() -> Points:
    """A curved boundary with noise in 20 columns."""
    draw = np.random.default_rng(0)
    points = draw.normal(size=(60_000, 20))
    inside = points[:, 0] * points[:, 1] + points[:, 2] + 0.3 * draw.normal(size=60_000) > 0
    return points, np.where(inside, "in", "out")


@dataclass(frozen=True)
class Example:
    """A data set of the page.

    Attributes:
      load: gives its points.
      title: what it is, in a few words.
    """

    load: Callable[[], Points]
    title: str


EXAMPLES = {
    "iris": Example(functools.partial(from_sklearn, "iris"), "Iris: three species by four measures of a flower"),
    "wine": Example(functools.partial(from_sklearn, "wine"), "Wine: three growers by thirteen analyses"),
    "breast_cancer": Example(
        functools.partial(from_sklearn, "breast_cancer"), "Breast cancer: two diagnoses by thirty measures of cells"
    ),
    "digits": Example(functools.partial(from_sklearn, "digits"), "Digits: ten digits, 8 × 8 pixels"),
    "mnist01": Example(functools.partial(from_mnist, 0, 1), "MNIST 0 against 1, 28 × 28 pixels"),
    "mnist35": Example(functools.partial(from_mnist, 3, 5), "MNIST 3 against 5"),
    "mnist49": Example(functools.partial(from_mnist, 4, 9), "MNIST 4 against 9"),
    "spiral": Example(spiral, "A spiral of two arms"),
    "moons": Example(moons, "Two moons with noise"),
    "rare": Example(rare, "One point in a hundred of a rare class"),
    "wide": Example(wide, "More columns than rows, labels at random"),
    "many": Example(many, "60,000 rows"),
}


def marker_of(name: str) -> str:
    """The line of the page after which an example stands."""
    return f"<!-- certificate of: {name} -->"


def file_of(name: str, suffix: str = "json") -> Path:
    """Where the words or the picture of an example are kept."""
    return IMAGES / f"certificate.{name}.{suffix}"


def told(certificate: Certificate) -> dict[str, Any]:
    """What is kept of a certificate: its sentences, and the numbers of the table."""
    findings = certificate.findings
    return {
        "headlines": [number for number, _ in headlines(findings)],
        "columns": findings.portrait.columns,
        "classes": len(findings.portrait.classes),
        "verdict": verdict_of(findings),
        "material": about_material(findings),
        "answers": [list(pair) for pair in answers(findings)],
        "in_short": in_short(findings),
        "changes": words.about_changes([each for each in findings.changes if not each.is_for_a_warning]),
        "version": findings.version,
    }


def block_of(name: str, row: dict[str, Any]) -> str:
    """What the page says about an example: the three answers, and what is known about its shape and theorems."""
    lines = [
        _wrapped(f"**{row['verdict']}**"),
        "",
        _wrapped(" ".join(row["material"])),
        "",
        f"![Errors by width](images/certificate.{name}.png)",
        "",
    ]
    lines += [_wrapped(f"- **{question}** {_without_seconds(answer)}", "  ") for question, answer in row["answers"]]
    lines += [_wrapped(f"- {sentence}", "  ") for sentence in (*row["in_short"], *row["changes"])]
    return "\n".join(lines) + "\n"


def _without_seconds(answer: str) -> str:
    """Times are those of the machine that made the page."""
    return answer.replace(" on this machine", "")


def table_of(rows: dict[str, dict[str, Any]]) -> str:
    """All examples in one table."""
    lines = [
        "| data | points × columns | classes | linear boundaries separate | promises kept | held-out error | found |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        points, answer, kept, *error = row["headlines"]
        cells = [
            f"[{name}](#{anchor_of(name)})",
            f"{points} × {row['columns']}",
            str(row["classes"]),
            answer,
            kept,
            *error,
        ]
        cells.append(row["verdict"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def anchor_of(name: str) -> str:
    """How GitHub calls the heading of an example."""
    kept = "".join(letter for letter in EXAMPLES[name].title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def picture_of(certificate: Certificate) -> bytes:
    """Errors by width."""
    from widenet.certificates import pictures
    from widenet.plots.style import render

    study = certificate.findings.study
    if study is None:
        raise ValueError("a certificate without networks is not shown")
    return render(pictures.errors(study), "png")


def shipped(rows: dict[str, dict[str, Any]]) -> str:
    """What the package ships for the page of certificates in a report: a line per example."""
    lines = []
    for name, row in rows.items():
        points, separated, promises, *error = row["headlines"]
        found = {
            "name": name,
            "title": EXAMPLES[name].title,
            "points": points,
            "columns": row["columns"],
            "classes": row["classes"],
            "separated": separated,
            "promises": promises,
            "error": "".join(error),
            "verdict": row["verdict"],
            "material": " ".join(row["material"]),
            "answers": [[question, _without_seconds(answer)] for question, answer in row["answers"]],
            "in_short": row["in_short"],
        }
        lines.append(json.dumps(found, ensure_ascii=False))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def kept_rows() -> dict[str, dict[str, Any]]:
    """What is kept of the examples."""
    return {each: json.loads(file_of(each).read_text(encoding="utf-8")) for each in EXAMPLES if file_of(each).exists()}


def take(name: str, certificate: Certificate) -> None:
    """Keep the words and the picture of a certificate, and put it on the page."""
    row = told(certificate)
    file_of(name).write_text(json.dumps(row, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with tempfile.NamedTemporaryFile(suffix=".png") as picture:
        picture.write(picture_of(certificate))
        picture.flush()
        keep_picture(Path(picture.name), file_of(name, "png"), COLOURS)
    put_between(PAGE, marker_of(name), END, block_of(name, row))
    put_between(PAGE, TABLE, END, table_of(kept_rows()))
    SHIPPED.write_text(shipped(kept_rows()), encoding="utf-8")


def main(names: list[str]) -> None:
    """Certify and take, one after the other, as you would with default options."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names or EXAMPLES:
            take(name, wn.certify(*EXAMPLES[name].load(), store=Store(Path(folder))))


if __name__ == "__main__":
    main(sys.argv[1:])

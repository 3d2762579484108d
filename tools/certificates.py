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
from widenet.certificates import Certificate, time_limit, words
from widenet.certificates.summary import headlines, in_short
from widenet.certificates.training_words import about_training
from widenet.store import Store

PAGE = DOCS / "gallery-certificates.md"
TABLE, END = "<!-- table of certificates -->", "<!-- end of certificates -->"
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
        "in_short": in_short(findings),
        "data": words.about_data(findings.portrait),
        "changes": words.about_changes([each for each in findings.changes if not each.is_for_a_warning]),
        "training": about_training(findings),
        "version": findings.version,
    }


def block_of(name: str, row: dict[str, Any]) -> str:
    """What the page says about an example: what is said in short, what would help, and how training went."""
    lines = [
        f"![The points, and the neurons of a network before and after training](images/certificate.{name}.png)",
        "",
    ]
    lines += [_wrapped(f"- {sentence}", "  ") for sentence in row["in_short"]]
    if row["changes"]:
        lines += [_wrapped(f"- {sentence}", "  ") for sentence in row["changes"]]
    trained = [sentence for sentence in row["training"] if not sentence.startswith("On points that it never saw")]
    return "\n".join([*lines, "", _wrapped(" ".join(trained))]) + "\n"


def table_of(rows: dict[str, dict[str, Any]]) -> str:
    """All examples in one table."""
    lines = [
        "| data | points × columns | classes | linear boundaries separate | promises kept | error on held-out points |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        points, answer, kept, *error = row["headlines"]
        classes = row["data"][0].partition(" in ")[2].partition(" classes")[0]
        cells = [f"[{name}](#{anchor_of(name)})", f"{points} × {row['columns']}", classes, answer, kept, *error]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def anchor_of(name: str) -> str:
    """How GitHub calls the heading of an example."""
    kept = "".join(letter for letter in EXAMPLES[name].title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def take(name: str, certificate: Certificate) -> None:
    """Keep the words and the picture of a certificate, and put it on the page."""
    row = told(certificate)
    file_of(name).write_text(json.dumps(row, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with tempfile.NamedTemporaryFile(suffix=".png") as picture:
        picture.write(certificate.pictures["portrait.png"])
        picture.flush()
        keep_picture(Path(picture.name), file_of(name, "png"), COLOURS)
    put_between(PAGE, marker_of(name), END, block_of(name, row))
    rows = {each: json.loads(file_of(each).read_text(encoding="utf-8")) for each in EXAMPLES if file_of(each).exists()}
    put_between(PAGE, TABLE, END, table_of(rows))


def main(names: list[str]) -> None:
    """Certify and take, one after the other, as a reader would with default options, on a machine that may be busy."""
    time_limit.PATIENCE = 1e6  # the time that this process works counts, and not for how long it waits
    with tempfile.TemporaryDirectory() as folder:
        for name in names or EXAMPLES:
            take(name, wn.certify(*EXAMPLES[name].load(), store=Store(Path(folder))))


if __name__ == "__main__":
    main(sys.argv[1:])

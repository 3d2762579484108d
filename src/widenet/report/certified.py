"""Certificates of twelve data sets: what `widenet certify` found, as the package ships it in `certified.json`."""

import functools
import json
from dataclasses import dataclass
from importlib.resources import files

FILE = "certified.json"


@dataclass(frozen=True)
class CertifiedExample:
    """What is shown of one certificate.

    Attributes:
      points, columns, classes: of the data set.
      separated: how many of its classes a linear boundary separates, in words.
      promises: how many promises were kept, in words.
      error: on held-out points, in words.
      answers: three questions, and what the certificate answers.
      in_short: what is proved and guaranteed.
    """

    name: str
    title: str
    points: str
    columns: int
    classes: int
    separated: str
    promises: str
    error: str
    verdict: str
    material: str
    answers: tuple[tuple[str, str], ...]
    in_short: tuple[str, ...]


@functools.cache
def certified_examples() -> tuple[CertifiedExample, ...]:
    """The examples, in the order of the gallery."""
    rows = json.loads(files("widenet.report").joinpath(FILE).read_text(encoding="utf-8"))
    return tuple(
        CertifiedExample(**row | {"answers": tuple(map(tuple, row["answers"])), "in_short": tuple(row["in_short"])})
        for row in rows
    )

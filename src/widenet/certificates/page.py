"""A certificate as one HTML page that carries its style and its pictures inside and asks nobody for anything."""

import base64
import itertools
from collections import Counter
from typing import TYPE_CHECKING

import jinja2
import numpy as np

from widenet.certificates import words
from widenet.certificates.preparation_words import about_preparation
from widenet.certificates.promises import ListedPromise, Standing
from widenet.certificates.summary import about_count, about_no_promise, headlines, in_short
from widenet.certificates.training_words import about_training
from widenet.claims import Kind, Verdict
from widenet.console import wording

if TYPE_CHECKING:
    from widenet.certificates.certificate import Certificate, Findings

GLOSSARY = (
    ("linear boundary", "one straight cut through the data, as a linear model makes it: a line for two columns, a "
     "plane for three, and so on."),
    ("margin", "how far the closest point is from the linear boundary of the widest margin, in the scale of section "
     "1. Theorems count on boundaries through the origin, whose margin may be another one."),
    ("neuron", "one unit of the network; it answers to points in its own direction, and votes for or against a class."),
    ("weights", "the numbers that training changes: the directions of the neurons."),
    ("update", "one change of the weights, after a look at one point; a point that is right with margin changes "
     "nothing."),
    ("pass", "training looks at every point once."),
    ("loss", "what training makes small; the hinge loss is 0 exactly if every point is right with margin."),
    ("held-out points", "points that networks were not trained on, to see how they do on new ones."),
    ("slack", "how far an assumption is from failing; negative: by how much it is missed."),
    ("tightness", "how near what happened comes to what was promised; 1: all of what was promised happened."),
    ("promise", "what a proved theorem says about this data, this width and this step size."),
)  # fmt: skip
KINDS = {"svg": "image/svg+xml", "png": "image/png"}


def draw(certificate: "Certificate") -> dict[str, bytes]:
    """The pictures, by what they show and their format."""
    from widenet.certificates import pictures
    from widenet.plots.style import render as drawn

    findings, prepared = certificate.findings, certificate.prepared
    labels, names = np.asarray(prepared.data.labels), certificate.table.class_names
    columns = tuple(certificate.table.columns[place] for place in prepared.kept) if certificate.table.columns else ()
    ringed = np.flatnonzero(np.isin(prepared.rows + 1, words.ringed_rows(findings.portrait)))
    inputs = np.asarray(prepared.data.inputs, np.float64)
    portrait = pictures.portrait(
        certificate.plane, labels, names, certificate.ensemble, columns, ringed.tolist(), inputs
    )
    found = {"portrait.png": drawn(portrait, "png")}
    if findings.training is not None:
        found["curves.svg"] = drawn(pictures.curves(findings.training), "svg")
    holding = [row for row in findings.applicable if row.verdict is Verdict.HOLDS]
    kept = [row for row in holding if row.evidence is not None and row.evidence.tightness is not None]
    if kept:
        found["tightness.svg"] = drawn(pictures.tightness(kept), "svg")
    return found


def render(findings: "Findings", pictures: dict[str, bytes]) -> str:
    """The page as text."""
    loader = jinja2.PackageLoader("widenet.certificates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    others = [row for row in findings.applicable if row.kind is not Kind.MAIN]
    reasons = [reason for reason, _ in Counter(row.not_applicable for row in findings.not_applicable).most_common()]
    return environment.get_template("certificate.html.j2").render(
        findings=findings,
        portrait=findings.portrait,
        training=findings.training,
        promise_of={each.id: each for each in findings.promises},
        promises=[(key, list(group)) for key, group in itertools.groupby(findings.promises, _standing)],
        groups=[(kind, own) for kind in Kind if (own := [row for row in others if row.kind is kind])],
        not_applicable=[
            (reason, [row for row in findings.not_applicable if row.not_applicable == reason]) for reason in reasons
        ],
        pictures={name.split(".")[0]: _inside(name, content) for name, content in pictures.items()},
        caption=words.about_picture(findings),
        headlines=headlines(findings),
        in_short=in_short(findings),
        count=about_count(findings.promises),
        no_promise=about_no_promise(findings),
        preparation=about_preparation(findings.portrait.preparation),
        trained=about_training(findings),
        glossary=GLOSSARY,
        say=words,
        sides=wording.sides,
        words=wording,
    )


def _standing(promise: ListedPromise) -> Standing:
    return promise.standing


def _inside(name: str, content: bytes) -> str:
    return f"data:{KINDS[name.split('.')[1]]};base64,{base64.b64encode(content).decode('ascii')}"

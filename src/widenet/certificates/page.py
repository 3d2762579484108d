"""A certificate as one HTML page that carries its style and its pictures inside and asks nobody for anything."""

import base64
import itertools
import re
from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
import numpy as np
from markupsafe import Markup, escape

from widenet import papers
from widenet.certificates import words
from widenet.certificates.preparation_words import about_preparation
from widenet.certificates.promises import ListedPromise, Standing, bars_of
from widenet.certificates.summary import about_count, about_no_promise, about_relabelled, in_short
from widenet.certificates.width_words import (
    about_allowances,
    about_material,
    about_ranking,
    about_study,
    allowed_columns,
    answers,
    verdict_of,
)
from widenet.certificates.widths import BATCH
from widenet.claims import Kind, Verdict
from widenet.console import wording
from widenet.plots.page_svg import page_svg
from widenet.report.typesetting import set_in_type, with_powers

if TYPE_CHECKING:
    from widenet.certificates.certificate import Certificate, Findings
    from widenet.certificates.rows import ClaimRow
    from widenet.certificates.width_study import WidthStudy

GLOSSARY = (
    ("linear boundary", "one straight cut through the data, as a linear model makes it: a line for two columns, a "
     "plane for three, and so on."),
    ("margin", "how far the closest point is from the linear boundary of the widest margin, in the scale of section "
     "1. Theorems count on boundaries through the origin, whose margin may be another one."),
    ("neuron", "one unit of the network; it answers to points in its own direction, and votes for or against a class."),
    ("weights", "the numbers that training changes: the directions of the neurons."),
    ("update", f"one change of the weights: of the networks of section 2 after a look at {BATCH} points, of those of "
     "theorems mostly after one. With the hinge loss, which most theorems are about, a point that is right with margin "
     "changes nothing; with the logistic loss of section 2 it changes little."),
    ("pass", "training looks at every point once."),
    ("loss", "what training makes small; the logistic loss is near 0 where every point is right with margin."),
    ("balanced error", "the mean of the errors of the classes, as if they were equally common."),
    ("ranking (AUC)", "the area under the ROC curve: of pairs of held-out points, one of each class, the share that "
     "the scores of a model put in the right order; a tie counts half, and 0.5 is chance. Computed in each part of the "
     "held-out points, then the mean. Differences are not tested."),
    ("95 % limits", "binomial limits of the true error, computed as if held-out points were independent: of a hundred "
     "data sets like this one it would lie between them for at least 95. Networks share training points, and the width "
     "was chosen on the same points, so the limits are approximate."),
    ("measurable", "found by an exact sign test of the points that only one of two gets wrong, at a risk of 5 %; as "
     "approximate as the limits. That no difference was measured does not say that there is none."),
    ("held-out points", "points that networks were not trained on, to see how they do on new ones."),
    ("slack", "how far an assumption is from failing; negative: by how much it is missed."),
    ("tightness", "how near what happened comes to what was promised; 1: all of what was promised happened."),
    ("promise", "what a proved theorem says about this data, this width and this step size."),
)  # fmt: skip
WIDTH, NARROW = re.compile(r'<svg [^>]* width="([\d.]+)"'), 440.0
"""A drawing of at most so many pixels can be read on a phone."""
MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")
OPTION = re.compile(r"--(?:effort|drop) (?:&#39;.*?&#39;|[^\s&]*[^\s&.,;)])")
"""With its value."""
TITLES = {
    "portrait": "The points of the data",
    "errors": "Errors of networks by width",
    "promised": "Promised against made",
    "tightness": "How tight each statement is",
}


def draw(certificate: "Certificate") -> dict[str, bytes]:
    """The pictures, by what they show and their format."""
    from widenet.certificates import pictures
    from widenet.plots.style import render as drawn

    findings, prepared, table = certificate.findings, certificate.prepared, certificate.table
    labels, names = np.asarray(prepared.data.labels), table.class_names
    columns = tuple(table.columns[place] for place in prepared.kept) if table.columns else ()
    ringed = np.flatnonzero(np.isin(table.rows[prepared.rows] + 1, words.ringed_rows(findings.portrait)))
    study = findings.study
    is_flat = table.inputs.shape[1] == 2 and certificate.plane.is_own and study is not None
    portrait = pictures.portrait(
        certificate.plane, labels, names, certificate.runs, columns, ringed.tolist(),
        table.inputs[prepared.rows] if is_flat else None, () if study is None else _shown(study),
    )  # fmt: skip
    found = {"portrait.svg": drawn(portrait, "svg")}
    if study is not None:
        found["errors.svg"] = drawn(pictures.errors(study), "svg")
    if bars := bars_of(findings.promises):
        found["promised.svg"] = drawn(pictures.promised(bars), "svg")
    holding = [row for row in findings.applicable if row.verdict is Verdict.HOLDS]
    kept = [row for row in holding if row.evidence is not None and row.evidence.tightness is not None]
    if kept:
        found["tightness.svg"] = drawn(pictures.tightness(kept), "svg")
    return found


def _shown(study: "WidthStudy") -> list[int]:
    """The narrowest network, the one that is enough, and the widest."""
    return sorted({study.results[0].n_neurons, study.best.n_neurons, study.results[-1].n_neurons})


def render(findings: "Findings", pictures: dict[str, bytes]) -> str:
    """The page as text."""
    loader = jinja2.PackageLoader("widenet.certificates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["typed"] = typed
    others = [row for row in findings.applicable if row.kind is not Kind.MAIN]
    reasons = [reason for reason, _ in Counter(row.not_applicable for row in findings.not_applicable).most_common()]
    study, portrait = findings.study, findings.portrait
    return environment.get_template("certificate.html.j2").render(
        findings=findings,
        portrait=portrait,
        study=study,
        style=Markup(_style()),
        whole=whole,
        verdict=verdict_of(findings),
        about=[*filter(None, [about_ranking(study, portrait.classes)]), *about_material(findings)],
        answers=answers(findings),
        promise_of={each.id: each for each in findings.promises},
        promises=[(key, list(group)) for key, group in itertools.groupby(findings.promises, _standing)],
        groups=[(kind, own) for kind in Kind if (own := [row for row in others if row.kind is kind])],
        not_applicable=[
            (reason, [row for row in findings.not_applicable if row.not_applicable == reason]) for reason in reasons
        ],
        pictures={name.split(".")[0]: _inside(name, content) for name, content in pictures.items()},
        caption=words.about_picture(findings),
        in_short=in_short(findings),
        relabelled=about_relabelled(portrait) if len(portrait.classes) > 2 else "",
        count=about_count(findings.promises),
        no_promise=about_no_promise(findings),
        preparation=about_preparation(portrait.preparation),
        trained=[] if study is None else about_study(study),
        allowed=about_allowances(findings.allowances, in_columns=True),
        columns=allowed_columns(findings.allowances),
        glossary=GLOSSARY,
        statement_of=_statement,
        say=words,
        sides=wording.sides,
        words=wording,
    )


def whole(sentence: str) -> Markup:
    """A sentence in which no option is broken at the end of a line.

    It may hold names of your classes and columns, which are shown as they are: only powers of ten are set.
    """
    return Markup(OPTION.sub(r'<span class="whole">\g<0></span>', str(escape(with_powers(sentence)))))


def typed(text: str) -> Markup:
    """What a theorem says, asks or counts, with its indices, powers of ten and minus signs set."""
    return set_in_type(MINUS.sub("−", text))


def _style() -> str:
    """The style sheet of the report, with the font of its mathematics inside."""
    assets = files("widenet.report").joinpath("assets")
    font = base64.b64encode(assets.joinpath("math.woff2").read_bytes()).decode("ascii")
    face = f'@font-face {{ font-family: "Report Math"; src: url(data:font/woff2;base64,{font}) format("woff2"); }}\n'
    return face + assets.joinpath("style.css").read_text(encoding="utf-8")


def _statement(row: "ClaimRow") -> Markup:
    """What the claim says, with its formulas set in type."""
    claim = next((claim for claim in papers.claims_of() if claim.id == row.id), None)
    return Markup(escape(row.statement)) if claim is None else set_in_type(claim.statement)


def _standing(promise: ListedPromise) -> Standing:
    return promise.standing


def _inside(name: str, content: bytes) -> Markup:
    """A drawing in the colours of the page; on a phone a wide one moves sideways, by keyboard too."""
    stem = name.removesuffix(".svg")
    drawn = Markup(page_svg(content, stem, TITLES[stem]))
    if float(WIDTH.search(drawn)[1]) <= NARROW:  # pyright: ignore[reportOptionalSubscript]
        return drawn
    return Markup('<div class="drawing" tabindex="0" role="group" aria-label="{}">{}</div>').format(TITLES[stem], drawn)

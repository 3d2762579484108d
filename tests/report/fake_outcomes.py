"""Outcomes of the toy papers, without a store: every cell is made at hand."""

import dataclasses
from typing import Any

import xarray as xr

from tests.packages import EMPTY, TOY
from tests.packages.broken2022.claims.theorems import theorem_8
from tests.packages.toy2020.claims import theorems
from tests.packages.toy2020.figures.figure_1 import figure_1
from tests.packages.toy2020.figures.figure_2 import figure_2
from tests.packages.toy2020.runs import curves, numbers
from widenet import plots
from widenet.claims import Claim, Kind, Promise, Runs, Verdict, at_most
from widenet.figures import Figure
from widenet.progress import silent
from widenet.records import Scale
from widenet.run import CheckOutcome, Circumstances, FigureOutcome, Results

PAPER, EMPTY_PAPER = TOY, EMPTY
HOLDING, STEP, FINDING = theorems.theorem_2, theorems.lemma_a_1, theorems.theorem_9_as_printed
UNMET, VACUOUS, TREND, FAILING = theorems.proposition_1_2, theorems.theorem_5, theorems.theorem_6, theorem_8
FIGURE, MOVING = figure_1, figure_2


def claim(name: str, verdict: Verdict = Verdict.HOLDS, kind: Kind = Kind.MAIN, statement: str = "") -> Claim:
    """A claim with this verdict."""
    measured = 321.0 if verdict is Verdict.HOLDS else 54321.0
    margin = 0.5 if verdict is Verdict.HYPOTHESES_NOT_MET else 1.25

    def judge(toys: theorems.Toys) -> Promise:
        return Promise({"bound": at_most(measured * toys.size, 12345.0)}, runs=Runs(tried=64, diverged=2))

    return Claim(
        id=name,
        kind=kind,
        statement=statement or f"For all x in [0, 1], the statement {name} is true.",
        where="Theorem 2, p. 5",
        judge=judge,
        draws=theorems.nothing,
        given=(theorems.input_norm, theorems.margin_of(margin)),
    )


def circumstances(seed: int = 0, seconds: float = 1.25, reused: bool = False, **more: Any) -> Circumstances:
    fields: dict[str, Any] = {"settings": [], "machine": "cpu", "versions": {}, "cells": []} | more
    return Circumstances(scale=Scale.QUICK, seed=seed, seconds=seconds, reused=reused, **fields)


def checked(which: Claim, seed: int = 0) -> CheckOutcome:
    if which.draws is not None:
        material: Any = which.draws(Scale.QUICK, seed)
    else:
        material = [numbers.run(each, silent) for each in numbers.settings(Scale.QUICK, seed)]
    return CheckOutcome(which, which(material), circumstances(seed))


def drawn(figure: Figure = FIGURE, seed: int = 0) -> FigureOutcome:
    (setting,) = curves.settings(Scale.QUICK, seed)
    found: xr.Dataset = curves.run(setting, silent)
    return FigureOutcome(figure, found, figure.compare(found), circumstances(seed, seconds=2.5, reused=True))


def results(checks: list[CheckOutcome], *figures: FigureOutcome) -> Results:
    """What a report is made of; the toy papers draw."""
    drawing = {"figure_1": "figure_1", "figure_2": "moving"}
    files = {}
    for outcome in figures:
        id = outcome.figure.id
        module = TOY.drawing(drawing[outcome.figure.name])
        files[id] = plots.picture_files(module, id, outcome.numbers, outcome.row())
        if outcome.figure is MOVING:
            files[id] |= plots.animation_files(module, id, outcome.numbers)
    return Results(checks, list(figures), files)


def with_evidence(outcome: CheckOutcome, **changes: Any) -> CheckOutcome:
    return dataclasses.replace(outcome, evidence=outcome.evidence.model_copy(update=changes))

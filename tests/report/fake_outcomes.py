"""Claims that answer at once with a chosen verdict, a figure of three numbers, and their outcomes."""

from typing import Any

import numpy as np
import xarray as xr

from widenet.claims.base import Claim, Evidence, Kind, Runs, Verdict, at_least, at_most, decide
from widenet.papers.base import Comparison, Figure, Paper
from widenet.run import CheckOutcome, FigureOutcome
from widenet.types import Progress, RunStatus, Scale


def evidence(verdict: Verdict = Verdict.HOLDS, **changes: Any) -> Evidence:
    met = verdict is not Verdict.HYPOTHESES_NOT_MET
    hypotheses = (
        at_most("largest", "largest ‖x‖", 1.0, 1.0),
        at_least("margin_of_w_x", "margin of [w*, x]", 1.25 if met else 0.5, 1.0),
    )
    conclusion = {Verdict.HOLDS: True, Verdict.VIOLATED: False}.get(verdict)
    if verdict is not Verdict.CONSTANT_UNSPECIFIED:
        assert decide(hypotheses, conclusion) is verdict
    fields = {
        "verdict": verdict,
        "hypotheses": hypotheses,
        "runs": Runs(tried=64, diverged=2),
        "conclusion": conclusion,
        "promised": 12345.0,
        "measured": 321.0,
        "tightness": 321 / 12345,
        "config": {"width": 100, "step_size": 0.1},
    }
    return Evidence(**(fields | changes))


def claim(
    name: str, verdict: Verdict = Verdict.HOLDS, kind: Kind = Kind.MAIN, statement: str = "", **changes: Any
) -> Claim:
    def check(setting: Any, progress: Progress) -> Evidence:
        progress(0.5, "half-way")
        return evidence(verdict, **changes)

    return Claim(
        id=name,
        kind=kind,
        statement=statement or f"For all x in [0, 1], the statement {name} is true.",
        where="Theorem 2, p. 5",
        check=check,
        setting=lambda scale, seed: (scale, seed),
        expected=Verdict.VIOLATED if name.endswith("_as_printed") else Verdict.HOLDS,
    )


def _numbers(seed: int, progress: Progress, **sizes: Any) -> xr.Dataset:
    epochs = sizes["epochs"]
    progress(1.0, "all epochs")
    error = np.broadcast_to(0.5 / np.arange(1, epochs + 2), (3, 2, epochs + 1))
    return xr.Dataset(
        {
            "train_error": (("width", "run", "epoch"), error),
            "test_error": (("width", "run", "epoch"), error + 0.02),
            "updates": (("width", "run"), np.full((3, 2), 2600 + seed)),
            "zero_loss_epoch": (("width", "run"), np.full((3, 2), epochs)),
            "status": (("width", "run"), np.full((3, 2), int(RunStatus.CONVERGED))),
            "update_bound": (("width",), np.full(3, 4.1e6)),
        },
        coords={"width": [10, 100, 1000], "epoch": np.arange(epochs + 1)},
    )


def _compare(numbers: xr.Dataset) -> list[Comparison]:
    return [
        Comparison(
            name="final test error",
            reported="good for all widths [a, b]",
            measured=float(numbers["test_error"][0, 0, -1]),
            interval=(0.05, 0.09),
            band=(0.0, 0.1),
            basis="pilot",
        ),
        Comparison(name="updates", reported="alike", measured=5.0, interval=None, band=(0.5, 2.0)),
    ]


FIGURE = Figure(
    id="brutzkus2018.figure_1",
    title="Train and test error against the epoch",
    caption="The step size is not stated in the paper.",
    compute=_numbers,
    compare=_compare,
    sizes={Scale.QUICK: {"epochs": 8}, Scale.PAPER: {"epochs": 16}},
)
PAPER = Paper(
    key="brutzkus2018",
    title="SGD Learns Over-parameterized Networks",
    authors="A. Author, B. Author",
    venue="ICLR 2018",
    arxiv="1710.10174",
    in_one_line="SGD converges at every width.",
    figures=(FIGURE,),
)
EMPTY_PAPER = Paper(
    key="li2018",
    title="Structured Data",
    authors="C. Author",
    venue="NeurIPS 2018",
    arxiv="1808.01204",
    in_one_line="Mixtures are learned.",
)

HOLDING = claim("brutzkus2018.theorem_2")
STEP = claim("brutzkus2018.lemma_a_1", kind=Kind.STEP, tightness=None)
FINDING = claim("brutzkus2018.theorem_9_as_printed", Verdict.VIOLATED, note="The printed count lacks a ceiling.")
FAILING = claim("brutzkus2018.theorem_8", Verdict.VIOLATED)
UNMET = claim("brutzkus2018.proposition_1_2", Verdict.HYPOTHESES_NOT_MET, Kind.CONSTRUCTION)
VACUOUS = claim("brutzkus2018.theorem_5", vacuous=True)


def checked(which: Claim, seed: int = 0) -> CheckOutcome:
    found = which.check(which.setting(Scale.QUICK, seed), lambda fraction, words: None)
    return CheckOutcome(which, Scale.QUICK, seed, found, seconds=1.25, reused=False)


def drawn(seed: int = 0) -> FigureOutcome:
    numbers = _numbers(seed, lambda fraction, words: None, epochs=8)
    return FigureOutcome(FIGURE, Scale.QUICK, seed, numbers, _compare(numbers), seconds=2.5, reused=True)

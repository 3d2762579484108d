"""Section 2.2 and Appendix A: derivatives of the loss, the reduction to zero biases, and a network that fits."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Silence, claim, more_than, undecided
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import CLOSED_FORM, IDENTITY, ROUNDING
from widenet.diagnostics.curvature import DENSE
from widenet.papers.chatterji2021.claims.choices import noted, other_width
from widenet.papers.chatterji2021.claims.conditions import unit_inputs
from widenet.papers.chatterji2021.claims.specimens import (
    MOST_FITTED,
    PER_POINT,
    built_half_width,
    clash,
    silence_over_inputs,
)
from widenet.papers.chatterji2021.runs.cases import Case, OwnCases
from widenet.papers.chatterji2021.runs.coordinates import BothCoordinates, CoordinatesSetting, coordinates
from widenet.papers.chatterji2021.runs.derivatives import (
    CURVED,
    HESSIAN_NEAR,
    NEAR_KINK,
    OFF,
    STRAIGHT,
    Curvatures,
    Slopes,
    curvatures_of,
    draw_curvatures,
    draw_slopes,
    kink_distance,
    slopes_of,
)
from widenet.papers.chatterji2021.runs.fits import Fit, draw_fits, fit
from widenet.papers.chatterji2021.settings import OwnPoints, reduced_points

DISTANCE = "smallest distance of a pre-activation from 0 and h"


@claim("chatterji2021.section_2_gradient", Kind.IDENTITY, "Section 2.2; Appendix B.2, first display", draws=draw_slopes)
def section_2_gradient(drawn: Slopes) -> Evidence:
    """∇_{v_i}L = −(u_i/n) Σ_s g_s y_s φ'(⟨v_i, x_s⟩) x_s, against central differences of L."""
    parts = {
        name: Sides(drawn.formula, drawn.differences, Sense.EQUAL, room=CLOSED_FORM, scored=drawn.votes == sign)
        for name, sign in (("rows that vote plus", 1), ("rows that vote minus", -1))
    }
    far = more_than("away_from_kinks", DISTANCE, drawn.nearest_kink, NEAR_KINK)
    return evidence(parts, (far,), note=noted([drawn]))


@section_2_gradient.speaks
def slopes_on(specimen: Specimen) -> Slopes | Silence:
    """A few networks on the reader's data."""
    cases = _own_cases(specimen, NEAR_KINK)
    return cases if isinstance(cases, Silence) else dataclasses.replace(slopes_of(cases), unmet=_unmet(specimen))


def _own_cases(specimen: Specimen, distance: float) -> list[Case] | Silence:
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    n, dim = specimen.inputs.shape
    if n * (dim + 1) > DENSE:
        return Silence(f"Differences are taken weight by weight here, on at most {DENSE} numbers of data.")
    own, wanted = OwnPoints(own_data=specimen.digest), specimen.choices.n_runs or 2
    drawn = OwnCases(points=own, half_width=2, n_networks=3 * wanted, seed=specimen.choices.seed).cases()
    cases = [case for case in drawn if kink_distance(case) > distance][:wanted]
    return cases or Silence("Every network that was tried has a unit at a kink on this data.")


def _unmet(specimen: Specimen) -> str:
    return other_width(specimen, 4, why="differences are taken weight by weight")


@claim("chatterji2021.equations_19_20", Kind.IDENTITY, "Eqs. 19 and 20, Appendix B.2", draws=draw_curvatures)
def equations_19_20(drawn: Curvatures) -> Evidence:
    """The blocks of the weak Hessian, (19) off the diagonal and (20) on it, against central differences of ∇L where no
    pre-activation is at 0 or h.
    """
    parts = {
        name: Sides(drawn.formula, drawn.differences, Sense.EQUAL, room=CLOSED_FORM, scored=drawn.kinds == kind)
        for name, kind in (("(19)", OFF), ("(20), a point on the parabola", CURVED), ("(20), none", STRAIGHT))
    }
    far = more_than("away_from_kinks", DISTANCE, drawn.nearest_kink, HESSIAN_NEAR)
    return evidence(parts, (far,), note=noted([drawn]))


@equations_19_20.speaks
def curvatures_on(specimen: Specimen) -> Curvatures | Silence:
    """A few networks on the reader's data."""
    if specimen.inputs.shape[1] > MOST_INPUTS:
        return Silence(f"The Hessian is compared entry by entry here, for at most {MOST_INPUTS} inputs.")
    cases = _own_cases(specimen, HESSIAN_NEAR)
    return cases if isinstance(cases, Silence) else dataclasses.replace(curvatures_of(cases), unmet=_unmet(specimen))


MOST_INPUTS = 50


@claim("chatterji2021.appendix_a", Kind.IDENTITY, "Appendix A", reads=coordinates)
def appendix_a(cells: Sequence[BothCoordinates]) -> Evidence:
    """A run with biases on x and one without on x̃ = (x, 1)/√2 are the same where Ṽ^(1) = √2θ^(1) and α̃ = 2α: Ṽ^(t) =
    √2θ^(t), equal pre-activations and losses at every step; and ⟨x̃, x̃'⟩ = (1 + ⟨x, x'⟩)/2 ≥ 0 for unit inputs.
    """
    flat = {name: np.concatenate([getattr(cell, name) for cell in cells]) for name in _COMPARED}
    overlaps, halves = flat.pop("overlaps"), flat.pop("halves")
    names = ("Ṽ^(t) = √2θ^(t)", "equal pre-activations", "equal losses")
    parts = {
        name: Sides(values, 0.0, Sense.EQUAL, room=IDENTITY) for name, values in zip(names, flat.values(), strict=True)
    }
    parts["⟨x̃, x̃'⟩ = (1 + ⟨x, x'⟩)/2"] = Sides(overlaps, halves, Sense.EQUAL, room=ROUNDING)
    parts["⟨x̃, x̃'⟩ ≥ 0"] = Sides(overlaps, 0.0, Sense.AT_LEAST, room=ROUNDING)
    return evidence(
        parts,
        (unit_inputs(max(cell.unit_error for cell in cells)),),
        details={"largest move of a weight": min(cell.moved for cell in cells)},
    )


_COMPARED = ("weights", "preactivations", "losses", "overlaps", "halves")


@appendix_a.speaks
def coordinates_on(specimen: Specimen) -> list[CoordinatesSetting] | Silence:
    """Pairs of runs of the chosen width on the reader's data."""
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    choices, work = specimen.choices, specimen.choices.n_neurons * specimen.inputs.size
    if work > MOST_WORK:
        return Silence(f"Two runs are compared at every step here; {work:,} products per step are too many. "
                       f"Choose at most {2 * (MOST_WORK // specimen.inputs.size // 2):,} neurons.")  # fmt: skip
    n_steps = max(5, min(100, 400_000 // work))
    return [
        CoordinatesSetting(
            points=OwnPoints(own_data=specimen.digest),
            half_width=choices.n_neurons // 2,
            n_steps=min(n_steps, choices.max_updates or n_steps),
            seed=choices.seed + run,
        )
        for run in range(choices.n_runs or 1)
    ]


MOST_WORK = 200_000_000
"""Neurons times numbers of data, up to which two runs are compared step by step."""


@claim("chatterji2021.theorem_1_start", Kind.CONSTRUCTION, "not in the paper; a start for Theorem 1", draws=draw_fits)
def theorem_1_start(fits: Sequence[Fit]) -> Evidence:
    """On unit inputs of which no two are equal with different labels, a network with one neuron per point starts
    Theorem 1: its neurons vote on caps of the sphere without points of the other label, and are stretched until L₁ is
    small enough. Where two equal inputs have different labels, every network has L ≥ 2 log 2/n, which is not.
    """
    clashes = [each.why_not for each in fits if each.why_not]
    distinct = Hypothesis(
        key="distinct",
        name="no two equal inputs with different labels",
        required="none",
        actual=float(len(clashes)),
        slack=-float(len(clashes)),
        met=not clashes,
        why=clashes[0] if clashes else "",
    )
    if not clashes and any(each.too_close for each in fits):
        distinct = undecided(distinct.key, distinct.name, distinct.required, why="too close for float64")
    targets = np.array([each.target for each in fits])
    return evidence(
        {"L₁ is small enough for Theorem 1": Sides([each.loss for each in fits], targets, room=ROUNDING * targets)},
        (distinct, unit_inputs(max(each.unit_error for each in fits))),
        note=noted(fits),
    )


@theorem_1_start.speaks
def fits_on(specimen: Specimen) -> list[Fit] | Silence:
    """Build it on the reader's data, or say why it cannot be built."""
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    if len(specimen.labels) > MOST_FITTED:
        return Silence(f"The start of Theorem 1 is built with a neuron per point here, for at most {MOST_FITTED}.")
    points, found = reduced_points(specimen.inputs), clash(specimen)
    equal = "are equal" in found
    wide = built_half_width(specimen)
    made = fit(points, specimen.labels, wide, found if equal else "", too_close=bool(found) and not equal)
    return [dataclasses.replace(made, unmet=other_width(specimen, 2 * wide, why=PER_POINT))]

"""Exponents: how the conditions of the proofs make T, m, η and B polynomials."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases
from widenet.claims.implication import Promised
from widenet.claims.sides import Fact
from widenet.records import Scale

Powers = Mapping[str, Fraction]
"""A monomial: the exponent of each symbol."""


def monomial(**powers: int | float) -> dict[str, Fraction]:
    """k=2, l=1 is k²l."""
    return {name: Fraction(power) for name, power in powers.items()}


def times(*factors: Powers) -> dict[str, Fraction]:
    """Their product."""
    total: dict[str, Fraction] = {}
    for factor in factors:
        for name, power in factor.items():
            total[name] = total.get(name, Fraction(0)) + power
    return {name: power for name, power in total.items() if power}


def power(base: Powers, exponent: int | float) -> dict[str, Fraction]:
    """base^exponent."""
    return {name: Fraction(exponent) * each for name, each in base.items()}


PRINTED: dict[str, Powers] = {
    "ηm": monomial(δ=3, ε=6, k=-5, l=-5),
    "T": monomial(k=10, l=10, δ=-6, ε=-12),
    "m": monomial(k=20, l=20, δ=-12, ε=-24),
    "B": monomial(k=10, l=10, δ=-6, ε=-12),
    "m of Lemma 5.2": monomial(k=3, l=2, δ=-1),
    "m of the proof of Lemma B.3": monomial(k=4, l=3, v=-2, δ=-3),
    "Σv² of Lemma A.4": monomial(k=5, l=5, δ=-4, m=-0.5),
}
"""The exponents as printed; B with v = ε³/(8kl) put in."""


def derived(*, time_components: int = 2, window: int | float = 1) -> dict[str, Powers]:
    """From the conditions of the proofs. `time_components` is the power of kl in T of the proof of Lemma A.4."""
    kl, gamma = monomial(k=1, l=1), monomial(δ=1, k=-1, l=-1)
    size = times(monomial(ε=3), power(kl, -1))
    drop = times(gamma, power(times(size, monomial(δ=1), power(kl, -1)), 2))
    # ηm times the drop per step, T steps: the loss is Õ(1) at the start.
    steps = power(times(drop, drop), -1)
    # Coupling lasts for (σ/η)·drop steps, σ = m^{−1/2}, and has to last for 1/(ηm·drop): m^{1/2} ≥ drop^{−2}.
    width = power(drop, -4 * window)
    batch = times(power(times(kl, power(size, -1), monomial(δ=-1)), 4), power(gamma, -2))
    # e^{−δm/(kl)} against a net of (v/ε)^{k²l} points.
    net = times(monomial(k=2, l=1), power(gamma, -1))
    samples = power(times(kl, monomial(v=-1, δ=-1)), 2)
    sampled = times(samples, monomial(k=2, l=1), monomial(δ=-1))
    # Σ_t v² ≤ L(W⁰)·(kl)³/(δ³ηm), over T = σδ/((kl)^j·η).
    mean = times(power(kl, 3), monomial(δ=-3, m=-1), power(kl, time_components), monomial(δ=-1, m=0.5))
    return {
        "ηm": drop,
        "T": steps,
        "m": width,
        "B": batch,
        "m of Lemma 5.2": net,
        "m of the proof of Lemma B.3": sampled,
        "Σv² of Lemma A.4": mean,
    }


SYMBOLS = ("k", "l", "δ", "ε", "v", "m")
Table = Float[np.ndarray, "quantity symbol"]


@dataclass(frozen=True, eq=False)
class Exponents(Cases):
    """One row per quantity, one column per symbol."""

    exponents: Table


def table_of(powers: Mapping[str, Powers]) -> Table:
    """Halves and whole numbers, so floats are exact."""
    return np.array([[float(each.get(symbol, 0)) for symbol in SYMBOLS] for each in powers.values()])


def draw_derived(scale: Scale, seed: int) -> Exponents:
    """Nothing here is random."""
    return Exponents(table_of(derived()))


KEYS = {
    "ηm": "step_size",
    "T": "steps",
    "m": "width",
    "B": "batch_size",
    "m of Lemma 5.2": "width_of_lemma_5_2",
    "m of the proof of Lemma B.3": "width_of_lemma_b_3",
    "Σv² of Lemma A.4": "residuals_of_lemma_a_4",
}


@claim("li2018.theorem_4_1_budget", Kind.STEP, "proofs of Theorem 4.1 and of Lemmas A.3, A.4 and B.3",
       draws=draw_derived, given=[], title="The printed exponents follow from the proofs")  # fmt: skip
def theorem_4_1_budget(found: Exponents, *, printed: Mapping[str, Powers] = PRINTED) -> Promised:
    """The exponents follow from the conditions of the proofs: ηm = δ³ε⁶/(k⁵l⁵), T = k¹⁰l¹⁰/(δ⁶ε¹²),
    m = k²⁰l²⁰/(δ¹²ε²⁴) and B = 1/(ηm)², up to logarithms; k³l²/δ in Lemma 5.2, k⁴l³/(v²δ³) in the proof of Lemma B.3;
    and Σv²/T = k⁵l⁵/(δ⁴m^{1/2}) in Lemma A.4 with T = σδ/(k²l²η).

    Lemma A.4 prints T = σδ/(klη), its proof k²l²; only the latter gives k⁵l⁵. The proof of Lemma B.4 uses two τ: with
    the smaller, σγ/(100B), throughout, m would be (kl)³²/(δ²⁰ε³⁶), a polynomial too.
    """
    agrees = (found.exponents == table_of(printed)).all(axis=2)
    symbols = [name.split(" ")[0] for name in printed]
    texts = [name.replace(symbol, f"${symbol}$", 1) for name, symbol in zip(printed, symbols, strict=True)]
    return {KEYS[name]: Fact(agrees[:, place], text=texts[place]) for place, name in enumerate(printed)}


def draw_sketch(scale: Scale, seed: int) -> Exponents:
    """Nothing here is random."""
    return Exponents(table_of(sketch()))


def sketch(window: int | float = 1) -> dict[str, Powers]:
    """The window of coupling is σε^`window`/η steps, and 1/(ηmε²) are needed: m^{1/2} ≥ ε^{−2−window}."""
    return {"m": power(monomial(ε=-2 - window), 2)}


@claim("li2018.section_5_sketch", Kind.STEP, "after Lemma 5.2, Section 5.1", draws=draw_sketch, given=[],
       title="Coupling lasts long enough from $m ≥ ε⁻⁶$ on")  # fmt: skip
def section_5_sketch(found: Exponents, *, exponent: int | float = -6) -> Promised:
    """With kl/δ = O(1) a step gains ηmε², so O(1/(ηmε²)) steps are enough, and coupling lasts for σε/η steps: that long
    from m ≥ ε⁻⁶ on, up to logarithms.
    """
    agrees = (found.exponents == table_of({"m": monomial(ε=exponent)})).all(axis=2)
    return {"width": Fact(agrees, text="$m = ε⁻⁶$")}

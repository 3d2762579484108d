"""Exponents of T, m, η and B, derived from the conditions of the proofs."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases
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


def derived(*, time_components: int = 2) -> dict[str, Powers]:
    """From the conditions of the proofs. `time_components` is the power of kl in T of the proof of Lemma A.4."""
    kl, gamma = monomial(k=1, l=1), monomial(δ=1, k=-1, l=-1)
    size = times(monomial(ε=3), power(kl, -1))
    drop = times(gamma, power(times(size, monomial(δ=1), power(kl, -1)), 2))
    # ηm times the drop per step, T steps: the loss is Õ(1) at the start.
    steps = power(times(drop, drop), -1)
    # Coupling lasts for (σ/η)·drop steps, σ = m^{−1/2}, and has to last for 1/(ηm·drop): m^{1/2} ≥ drop^{−2}.
    width = power(drop, -4)
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

SymbolPowers = Float[np.ndarray, "#quantity 6"]


@dataclass(frozen=True, eq=False)
class BudgetExponents(Cases):
    """One row per quantity, one column per symbol."""

    exponents: SymbolPowers


def table_of(powers: Mapping[str, Powers]) -> SymbolPowers:
    """Halves and whole numbers, so floats are exact."""
    return np.array([[float(each.get(symbol, 0)) for symbol in SYMBOLS] for each in powers.values()])


def draw_derived(scale: Scale, seed: int) -> BudgetExponents:
    """Nothing here is random."""
    return BudgetExponents(table_of(derived()))


def draw_sketch(scale: Scale, seed: int) -> BudgetExponents:
    """Nothing here is random."""
    return BudgetExponents(table_of(sketch()))


def sketch(window: int | float = 1) -> dict[str, Powers]:
    """The window of coupling is σε^`window`/η steps, and 1/(ηmε²) are needed: m^{1/2} ≥ ε^{−2−window}."""
    return {"m": power(monomial(ε=-2 - window), 2)}

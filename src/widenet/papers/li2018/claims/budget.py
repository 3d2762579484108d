"""Exponents: how the conditions of the proofs make T, m, η and B polynomials."""

from collections.abc import Mapping

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised
from widenet.claims.sides import Fact
from widenet.papers.li2018.runs.exponents import BudgetExponents, Powers, draw_derived, draw_sketch, monomial, table_of

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
def theorem_4_1_budget(found: BudgetExponents, *, printed: Mapping[str, Powers] = PRINTED) -> Promised:
    """The exponents follow from the conditions of the proofs: $ηm = δ³ε⁶/(k⁵l⁵)$, $T = k¹⁰l¹⁰/(δ⁶ε¹²)$, $m =
    k²⁰l²⁰/(δ¹²ε²⁴)$ and $B = 1/(ηm)²$, up to logarithms; $k³l²/δ$ in Lemma 5.2, $k⁴l³/(v²δ³)$ in the proof of Lemma
    B.3; and $Σv²/T = k⁵l⁵/(δ⁴m^{1/2})$ in Lemma A.4 with $T = σδ/(k²l²η)$.

    Lemma A.4 prints T = σδ/(klη), its proof k²l²; only the latter gives k⁵l⁵. The proof of Lemma B.4 uses two τ: with
    the smaller, σγ/(100B), throughout, m would be (kl)³²/(δ²⁰ε³⁶), a polynomial too.
    """
    agrees = (found.exponents == table_of(printed)).all(axis=2)
    symbols = [name.split(" ")[0] for name in printed]
    texts = [name.replace(symbol, f"${symbol}$", 1) for name, symbol in zip(printed, symbols, strict=True)]
    return {KEYS[name]: Fact(agrees[:, place], text=texts[place]) for place, name in enumerate(printed)}


@claim("li2018.section_5_sketch", Kind.STEP, "after Lemma 5.2, Section 5.1", draws=draw_sketch, given=[],
       title="Coupling lasts long enough from $m ≥ ε⁻⁶$ on")  # fmt: skip
def section_5_sketch(found: BudgetExponents, *, exponent: int | float = -6) -> Promised:
    """With $kl/δ = O(1)$ a step gains $ηmε²$, so $O(1/(ηmε²))$ steps are enough, and coupling lasts for $σε/η$ steps:
    long enough from $m ≥ ε⁻⁶$ on, up to logarithms.
    """
    agrees = (found.exponents == table_of({"m": monomial(ε=exponent)})).all(axis=2)
    return {"width": Fact(agrees, text="$m = ε⁻⁶$")}

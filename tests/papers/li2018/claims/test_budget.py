"""Exponents: one printed exponent more, and the judge notices."""

from tests.control_table import at, controls
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import budget
from widenet.papers.li2018.claims.budget import KEYS, PRINTED, section_5_sketch, theorem_4_1_budget
from widenet.papers.li2018.runs.exponents import BudgetExponents, derived, monomial, power, sketch, table_of, times


def raised(name):
    symbol = next(iter(PRINTED[name]))
    return {**PRINTED, name: times(PRINTED[name], {symbol: monomial(x=1)["x"]})}


def test_control_the_printed_time_of_lemma_a_4_gives_k4_l4():
    found = derived(time_components=1)["Σv² of Lemma A.4"]
    assert found == monomial(k=4, l=4, δ=-4, m=-0.5)
    assert theorem_4_1_budget(BudgetExponents(table_of(derived(time_components=1)))).verdict is Verdict.VIOLATED


def test_the_batch_is_the_square_of_the_step():
    assert derived()["B"] == power(derived()["ηm"], -2) == derived()["T"]


def test_arithmetic_of_monomials():
    assert times(monomial(k=2), monomial(k=-2, l=1)) == monomial(l=1)
    assert power(monomial(k=2, δ=-1), 0.5) == monomial(k=1, δ=-0.5)


SKETCH, SHORTER = (BudgetExponents(table_of(sketch(window))) for window in (1, 2))
test_control = controls(
    budget,
    {BudgetExponents: BudgetExponents(table_of(derived())), section_5_sketch: SKETCH},
    *((theorem_4_1_budget, KEYS[name], {}, {"printed": raised(name)}) for name in PRINTED),
    (section_5_sketch, "width", {}, at(SHORTER)),
)

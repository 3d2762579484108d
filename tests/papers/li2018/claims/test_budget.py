"""Exponents: one printed exponent more, and the judge notices."""

import pytest

from tests.controls import breaks_part, every_part_of
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import budget
from widenet.papers.li2018.claims.budget import (
    PRINTED,
    derived,
    monomial,
    power,
    section_5_sketch,
    sketch,
    theorem_4_1_budget,
    times,
)


def raised(name):
    symbol = next(iter(PRINTED[name]))
    return {**PRINTED, name: times(PRINTED[name], {symbol: monomial(x=1)["x"]})}


def control(name):
    def test():
        return theorem_4_1_budget(derived()), theorem_4_1_budget(derived(), printed=raised(name))

    return breaks_part(theorem_4_1_budget, name)(test)


CONTROLS = {name: control(name) for name in PRINTED}


@pytest.mark.parametrize("name", CONTROLS)
def test_control_one_exponent_more(name):
    CONTROLS[name]()


def test_control_the_printed_time_of_lemma_a_4_gives_k4_l4():
    found = derived(time_components=1)["Σv² of Lemma A.4"]
    assert found == monomial(k=4, l=4, δ=-4, m=-0.5)
    assert theorem_4_1_budget(derived(time_components=1)).verdict is Verdict.VIOLATED


def test_the_batch_is_the_square_of_the_step():
    assert derived()["B"] == power(derived()["ηm"], -2) == derived()["T"]


@breaks_part(section_5_sketch, "m = ε⁻⁶")
def test_control_a_shorter_window():
    return section_5_sketch(sketch()), section_5_sketch(sketch(window=2))


def test_arithmetic_of_monomials():
    assert times(monomial(k=2), monomial(k=-2, l=1)) == monomial(l=1)
    assert power(monomial(k=2, δ=-1), 0.5) == monomial(k=1, δ=-0.5)


test_every_part_has_a_control = every_part_of(budget)

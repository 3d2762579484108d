"""What counts as a loop, a reduction, a declaration, and a line of which kind."""

import ast

from tools.counts import EXTREMES, about_user_data, calls, judges_in, lines_by_kind, loops_over_runs, own_lines

TEXT = '''"""Words
of two lines."""

import numpy as np


# A comment.
@claim("p.x", Kind.STEP, "", reads=runs.at(settings, on=own))
def judge(runs):
    """It holds."""
    each = [len(cell) for cell in runs.cells]
    for run in runs.each():
        each.append(run.size.max())
    for other in (1, 2):
        each.append(other)
    return each


@drawn_on(lambda data: data)
def draw(scale, seed): ...
'''
TREE = ast.parse(TEXT)


def test_a_judge_and_what_it_does_by_hand() -> None:
    (judge,) = judges_in(TREE)
    assert (judge.name, loops_over_runs(judge), calls(judge, *EXTREMES)) == ("judge", 2, 1)
    assert own_lines(judge) == 6
    assert about_user_data(TREE) == {"on=": 1, "drawn_on": 1}


def test_lines_by_kind() -> None:
    found = lines_by_kind(TEXT)
    assert found == {"texts": 3, "blank": 5, "imports": 1, "comments": 1, "decorators": 2, "code": 8}
    assert sum(found.values()) == len(TEXT.splitlines())

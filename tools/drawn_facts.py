"""python -m tools.drawn_facts: what certificates state about drawn tables, against programs of other makers.

Tables of 2 to 60,000 rows: classes apart or not, one flipped label, duplicates, contradictions, a bias needed or not,
99:1, more columns than rows (`tools.drawn_tables`). Each is read, prepared and looked at, without training, and every
field of the JSON is compared with plain NumPy, a linear program and a support-vector machine (`tools.known_facts`). Of
--whole tables whole certificates are made, with theorems and networks. Table number n is the same each time.
"""

import argparse
import json
import os
import tempfile
import time
import traceback
import warnings
from typing import Any

from tools.arguments import some
from tools.drawn_tables import Drawn, drawn
from tools.known_facts import disagreements

WHOLE_SECONDS = 3.0
"""Of computing, for each whole certificate: not all statements are evaluated then, which has to be said."""


def look(number: int) -> list[str]:
    """What is wrong with the facts about table number n."""
    from widenet.certificates.portrait import portray
    from widenet.certificates.preparation import Scaling, prepare
    from widenet.certificates.reading import read
    from widenet.errors import DataError

    table = drawn(number)
    try:
        points = read(table.inputs, table.labels)
        portrait = portray(points, prepare(points, Scaling(table.scaling)))
        return disagreements(table.inputs, table.labels, json.loads(portrait.model_dump_json()))
    except DataError as refusal:
        return [] if _is_constant(table) else [f"refused: {refusal}"]
    except Exception:
        return [f"raised: {traceback.format_exc()[-900:]}"]


def look_at_whole(number: int) -> list[str]:
    """What is wrong with the whole certificate of table number n."""
    import widenet as wn
    from widenet.errors import DataError
    from widenet.store import Store

    table = drawn(number)
    with warnings.catch_warnings(action="ignore"), tempfile.TemporaryDirectory() as folder:
        try:
            found = wn.certify(
                table.inputs, table.labels, scaling=table.scaling, runs=3, time=WHOLE_SECONDS, store=Store(folder)
            )
            facts = found.to_dict()
            said = disagreements(table.inputs, table.labels, facts["portrait"])
            return said + _of_rows(facts) + _of_study(table, facts) + _of_words(facts, repr(found), found.to_html())
        except DataError as refusal:
            return [] if _is_constant(table) else [f"refused: {refusal}"]
        except Exception:
            return [f"raised: {traceback.format_exc()[-900:]}"]


def _is_constant(table: Drawn) -> bool:
    """Whether all points are equal: such a table may be refused."""
    return len({tuple(point) for point in table.inputs.tolist()}) == 1


def _of_rows(facts: dict[str, Any]) -> list[str]:
    said = []
    if facts["unasked"] != sum(row["is_open"] for row in facts["rows"]):
        said.append(f"{facts['unasked']} statements not evaluated")
    speaking = {row["id"]: row for row in facts["rows"] if row["evidence"] is not None}
    if {each["id"] for each in facts["promises"]} != {id for id, row in speaking.items() if row["meaning"]}:
        said.append("promises of other statements")
    is_part = facts["portrait"]["preparation"]["used"] < facts["portrait"]["points"]
    if is_part and any("drawn at random" not in row["about"] for row in speaking.values()):
        said.append("a statement about a part of the data that is said to be about all")
    return said


def _of_study(table: Drawn, facts: dict[str, Any]) -> list[str]:
    from scipy.stats import binomtest

    study, said = facts["study"], []
    if study is None:
        return said
    if study["points"] != len(table.inputs) or not max(study["trained_on"]) <= study["used"] <= study["points"]:
        said.append(f"networks got {study['trained_on']} of {study['used']} of {study['points']} points")
    scores = {f"{each['n_neurons']} neurons": each["score"] for each in study["results"]}
    for name, score in (scores | {each["name"]: each["score"] for each in study["rivals"]}).items():
        exact = binomtest(score["wrong"], score["points"]).proportion_ci(0.95, method="exact")
        if max(abs(one - other) for one, other in zip(exact, score["limits"], strict=True)) > 1e-6:
            said.append(f"{name}: limits {score['limits']} of {score['wrong']} of {score['points']}")
    for each in study["results"]:
        errors = each["train_errors"]
        ended = each["fitted"] == errors.count(0.0) and each["fitted"] + each["learning"] <= len(errors)
        counts = [error * points for error, points in zip(errors, study["trained_on"], strict=True)]
        if not ended or any(abs(count - round(count)) > 1e-3 * max(count, 1) for count in counts):
            said.append(f"{each['n_neurons']} neurons: errors {errors}, {each['fitted']} fit, {each['learning']} learn")
    return said


def _of_words(facts: dict[str, Any], screen: str, page: str) -> list[str]:
    said = []
    told = " ".join(screen.split())
    answers = [each["separable"] for each in facts["portrait"]["separability"] if not each["through_origin"]]
    if "This is proved" in told and (not answers or set(answers) == {None}):
        said.append("proved, although nothing is known")
    if facts["unasked"] == len(facts["rows"]) and ("No theorem" in told or "No theorem" in page):
        said.append("no theorem was evaluated, and it is said that none promises anything")
    for each in facts["portrait"]["separability"]:
        count, points = len(each["in_the_way"]), facts["portrait"]["points"]
        if len(answers) == 1 and count and f"{count:,} of {points:,} points" not in told:
            said.append(f"{count} points in the way are not told")
    return said


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tools.drawn_facts", description=__doc__)
    parser.add_argument("--count", type=some, default=1000, help="tables number 0 to COUNT − 1")
    parser.add_argument("--whole", type=int, default=40, help="so many of them get a whole certificate too")
    parser.add_argument("--start", type=int, default=0, help="the first table")
    asked = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    began, wrong = time.monotonic(), 0
    jobs = [(look, number) for number in range(asked.start, asked.count)]
    jobs += [(look_at_whole, number) for number in range(asked.start, asked.start + asked.whole)]
    for program, number in jobs:
        if said := program(number):
            wrong += 1
            print(f"{program.__name__} {number} ({drawn(number).words}):\n    " + "\n    ".join(said), flush=True)
    print(
        f"{max(asked.count - asked.start, 0)} tables and {asked.whole} whole certificates: {wrong} with a fact that "
        f"other programs do not confirm; {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main()

"""Controls: evidence in which one part, or one hypothesis, of a claim is broken and no other.

A check that can fail is not yet one that can fail in each of its parts. So a test says what its altered runs break,

    @breaks_part(theorem_2, "at most M_k updates")
    def test_one_update_more_than_the_bound():
        return theorem_2([planted(updates=LIMIT)]), theorem_2([planted(updates=LIMIT + 1)])

and returns the evidence: outside alone, or the pair (just inside, just outside). Inside, every part is kept and every
hypothesis met. Outside, that part alone is broken, or that hypothesis alone is not met. Many of one
kind stand in a table (`part_edges`, `hypothesis_edges`). The last line of each file of tests is

    test_every_part_has_a_control = every_part_of(convergence)

which fails for every part and every hypothesis, of every claim of that module, that no control breaks.
"""

import functools
import importlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

import pytest

from widenet.claims.base import Claim, Evidence, Verdict

Given = Evidence | tuple[Evidence, Evidence]


@dataclass(frozen=True, eq=False)
class Control:
    """What a test breaks: a part by its name, a hypothesis by its key, or (of a refuted statement) the refutation."""

    claim: Claim
    part: str = ""
    hypothesis: str = ""
    also: tuple[str, ...] = ()
    make: Callable[[], Given] = lambda: ()  # type: ignore[return-value]

    @functools.cached_property
    def evidence(self) -> tuple[Evidence | None, Evidence]:
        """(just inside, just outside)."""
        given = self.make()
        return given if isinstance(given, tuple) else (None, given)

    def check(self) -> None:
        """That it breaks what it says, and nothing else."""
        inside, outside = self.evidence
        if inside is not None:
            assert not broken_in(inside), f"inside: {broken_in(inside)} broken, {inside.note}"
            assert not unmet_in(inside), f"inside: {unmet_in(inside)} not met"
            assert not undecided_in(inside), f"inside: {undecided_in(inside)} undecided"
            assert inside.conclusion is True or self.hypothesis, "inside: undecided"
        if self.part:
            assert self.part in names_of(outside), f"no part {self.part!r} among {names_of(outside)}"
            assert set(broken_in(outside)) == {self.part, *self.also}
            assert not unmet_in(outside), f"hypotheses not met: {unmet_in(outside)}"
            assert not undecided_in(outside), f"hypotheses undecided: {undecided_in(outside)}"
        elif self.hypothesis:
            assert set(unmet_in(outside)) == {self.hypothesis, *self.also}
        else:
            assert outside.verdict is Verdict.HOLDS


CONTROLS: dict[str, list[Control]] = defaultdict(list)


def breaks_part(claim: Claim, name: str, *, also: tuple[str, ...] = ()) -> Callable:
    """The test returns evidence in which this part alone is broken; `also` names parts that cannot hold without it."""
    return _registered(claim, part=name, also=also)


def breaks_hypothesis(claim: Claim, key: str, *, also: tuple[str, ...] = ()) -> Callable:
    """The test returns evidence in which this hypothesis alone is not met; `also` names those that fall with it."""
    return _registered(claim, hypothesis=key, also=also)


def hypothesis_edges(claim: Claim, judged: Callable[..., Evidence], **edges: tuple) -> Callable:
    """One case per hypothesis: key = (changes just inside, changes just outside), as `judged` takes them.

    Names after the two are those that fall with it.
    """
    return _table(judged, edges, lambda key, also: breaks_hypothesis(claim, key, also=also))


def part_edges(claim: Claim, judged: Callable[..., Evidence], edges: dict[str, tuple]) -> Callable:
    """A test with one case per part: name → (changes just inside, changes just outside), as `judged` takes them.

    Names after the two are those that cannot hold without it.
    """
    return _table(judged, edges, lambda name, also: breaks_part(claim, name, also=also))


def each_of(tests: Mapping[str, Callable[[], None]]) -> Callable[[str], None]:
    """One test, with a case for each of these."""

    @pytest.mark.parametrize("what", tests)
    def test(what: str) -> None:
        tests[what]()

    return test


def spares(claim: Claim) -> Callable:
    """The test returns evidence of a statement that is false as printed, from an instance in which it holds."""
    return _registered(claim)


def every_part_of(
    module: ModuleType, *, except_for: dict[str, str] | None = None, elsewhere: tuple[Claim, ...] = ()
) -> Callable[[], None]:
    """A test that every part and hypothesis of the module's claims has a control in the file that calls this.

    `except_for` gives, by "claim: part", the reason why something cannot be broken alone; `elsewhere` names the claims
    that have a file of tests of their own.
    """
    excused, others = set(except_for or {}), {claim.id for claim in elsewhere}

    def test() -> None:
        about = [claim for claim in claims_of(module) if claim.id not in others]
        assert about, "nothing is left to look at"
        lacking = set().union(*(_lacking(claim) for claim in about))
        assert not lacking - excused, "no control for\n  " + "\n  ".join(sorted(lacking - excused))
        assert not excused - lacking, f"excused, but it has a control: {sorted(excused - lacking)}"

    return test


def claims_of(module: ModuleType) -> list[Claim]:
    """The claims that the table of contents has in this module."""
    room, place = module.__name__.split(".claims.")
    entries = [entry.rsplit(".", 1) for entry in importlib.import_module(room).PAPER.claims]
    return [getattr(module, name) for where, name in entries if where == place]


def _lacking(claim: Claim) -> set[str]:
    controls = CONTROLS[claim.id]
    if claim.expected is Verdict.VIOLATED:
        spared = any(not control.part and not control.hypothesis for control in controls)
        return set() if spared else {f"{claim.name}: an instance in which it holds"}
    seen = [each for control in controls for each in control.evidence if each is not None]
    if not seen:
        return {f"{claim.name}: anything"}
    parts = {name for each in seen for name in names_of(each)} - {control.part for control in controls}
    keys = {h.key for each in seen for h in each.hypotheses} - {control.hypothesis for control in controls}
    return {f"{claim.name}: {name}" for name in parts} | {f"{claim.name}: hypothesis {key}" for key in keys}


def names_of(evidence: Evidence) -> list[str]:
    """The names of the parts."""
    return [part.name for part in evidence.parts]


def broken_in(evidence: Evidence) -> list[str]:
    """The parts that were measured to fail."""
    return [part.name for part in evidence.parts if part.kept is False]


def unmet_in(evidence: Evidence) -> list[str]:
    """The keys of the hypotheses that are not met."""
    return [hypothesis.key for hypothesis in evidence.hypotheses if hypothesis.met is False]


def undecided_in(evidence: Evidence) -> list[str]:
    """The keys of the hypotheses of which it is not known whether they are met."""
    return [hypothesis.key for hypothesis in evidence.hypotheses if hypothesis.met is None]


def lacking_in(evidence: Evidence) -> list[str]:
    """The keys of the hypotheses that are not met, or of which it is not known."""
    return [hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met]


def answers_in(evidence: Evidence) -> list[bool | None]:
    """What was found about each part, in order."""
    return [part.kept for part in evidence.parts]


def _registered(claim: Claim, **what: object) -> Callable[[Callable[[], Given]], Callable[[], None]]:
    def register(make: Callable[[], Given]) -> Callable[[], None]:
        control = Control(claim, make=make, **what)  # type: ignore[arg-type]
        CONTROLS[claim.id].append(control)

        def test() -> None:
            control.check()

        return (
            functools.update_wrapper(test, make, ("__module__", "__name__", "__doc__"), ())
            if hasattr(make, "__name__")
            else test
        )

    return register


def _table(judged: Callable[..., Evidence], edges: dict[str, tuple], kind: Callable) -> Callable:
    tests = {
        what: kind(what, tuple(also))(functools.partial(lambda *pair: tuple(judged(**each) for each in pair), *pair))
        for what, (*pair, also) in ((what, (*edge[:2], edge[2:])) for what, edge in edges.items())
    }

    return each_of(tests)

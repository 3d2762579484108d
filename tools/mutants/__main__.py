"""python -m tools.mutants TARGET: weaken each check of a paper (or of diagnostics, training, certificates, estimators)
and see which tests notice.

Results are kept in build/mutants/: an interrupted hunt goes on where it stopped, and only what has changed since is
tried again. See docs/mutants.md.
"""

import argparse
import os
import random
import sys

from tools.arguments import some
from tools.mutants import sessions
from tools.mutants.baseline import Baseline
from tools.mutants.declared import hunt_paper, in_words
from tools.mutants.exchange import Calls
from tools.mutants.hunt import Hunt
from tools.mutants.memory import remember
from tools.mutants.mutation import Mutant
from tools.mutants.table import outcomes, page, prune, summary
from tools.mutants.targets import EQUIVALENT, OTHERS, ROOT, Target, find, papers

FOLDER = ROOT / "build" / "mutants"
SECONDS, WRITTEN_SECONDS = 30.0, 600.0
"""Of tests per mutant. Those that were written by hand are few, and any test may notice them."""


def main() -> None:
    """The command."""
    asked = _arguments()
    if asked.prune:
        print(f"{prune()} entries struck from {EQUIVALENT.relative_to(ROOT)}")
        return
    if asked.target is None:
        raise SystemExit(f"name a paper or a part: {', '.join((*papers(), *OTHERS))}")
    target = find(asked.target)
    mutants = chosen(target, asked.only, asked.sample, asked.seed)
    if not mutants:
        raise SystemExit(f"no mutant of {asked.target} has {asked.only!r} in its description; --list shows all")
    if asked.list:
        try:
            print("\n".join(each.description for each in mutants), flush=True)
        except BrokenPipeError:  # somebody wanted to see the first few, as `| head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    if target.is_paper and not (asked.only or asked.table or asked.survivors):
        # In a child, since controls may compute with JAX, and a process that did must not fork.
        said = sessions.in_fork(lambda _: {"words": in_words(list(hunt_paper(target.name)))})
        print(said.get("words", f"declarations: not tried, the process ended with {said.get('ended')}"), flush=True)
    if asked.declared:
        return
    baseline = Baseline(target, FOLDER)
    usual = WRITTEN_SECONDS if target.is_written else SECONDS
    hunt = Hunt(baseline, FOLDER, usual if asked.most_seconds is None else asked.most_seconds)
    if asked.survivors:
        mutants = [each for each in mutants if hunt.survived(each)]
        if not mutants:
            raise SystemExit("none of these survived when last tried")
    if not asked.table:
        calls = Calls(target.files)
        with calls.noted():
            sessions.load(target.name if target.is_paper else None)
        if target.is_paper:
            remember(target.name, FOLDER / "memory")
        baseline.refresh(_needed(target, mutants) if asked.only else None, asked.jobs)
        try:
            hunt.run(mutants, asked.jobs, calls)
        except KeyboardInterrupt:
            print("interrupted; the next run goes on from here")
    rows = outcomes(hunt, list(target.mutants()))
    path = FOLDER / f"{target.name}.md"
    path.write_text(page(target.name, rows, baseline.failing()))
    print(f"{summary(rows)}\nwritten to {path.relative_to(ROOT)}")


def chosen(target: Target, only: str, sample: int | None, seed: int) -> list[Mutant]:
    """All mutants, or as many first steps as were asked for, with their larger steps."""
    mutants = [each for each in target.mutants() if only in each.description]
    first = [each for each in mutants if not each.milder]
    if sample is None or sample >= len(first):
        return mutants
    drawn = {each.description for each in random.Random(seed).sample(first, sample)}
    return [each for each in mutants if (each.milder or each.description) in drawn]


def _needed(target: Target, mutants: list[Mutant]) -> set[str] | None:
    own = [target.own_tests(module) for module in {each.module for each in mutants}]
    return set().union(*own) if all(own) else None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument(
        "target", nargs="?", help="a paper (brutzkus2018), diagnostics, training, certificates, or estimators"
    )
    parser.add_argument("--sample", type=some, help="so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", default="", help="mutants whose description contains this")
    parser.add_argument("--jobs", type=some, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--most-seconds", type=float, help="of tests per mutant, as they take without it (30; 600)")
    parser.add_argument("--survivors", action="store_true", help="those alone that survived when last tried")
    parser.add_argument("--declared", action="store_true", help="what claims declare alone, which takes seconds")
    parser.add_argument("--table", action="store_true", help="write the table of what is known and try nothing")
    parser.add_argument("--prune", action="store_true", help="strike equivalent mutants that no longer exist")
    parser.add_argument("--list", action="store_true", help="print the descriptions and try nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()

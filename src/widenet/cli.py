"""The command line: parse, call `widenet.run`, print.

Results go to stdout, progress and errors to stderr. Exit codes: `widenet.console.exit_codes`. `--json` prints one JSON
array with an object per claim or figure (`report`, and `list` without a noun, print one object of arrays).

Heavy libraries are imported inside the commands, so that `widenet --help` and `widenet list` answer at once.
"""

import gc
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

try:
    import typer

    from widenet.console.commands import Command, Commands
except KeyboardInterrupt:  # Ctrl-C before there is anything to interrupt
    raise SystemExit(130) from None

from widenet.console import interrupts
from widenet.console.exit_codes import code_of
from widenet.errors import InputError, UnknownName
from widenet.seeds import seed_from

if TYPE_CHECKING:
    from widenet.claims import Claim
    from widenet.figures import Figure
    from widenet.records import Scale
    from widenet.run import Results, Workers

NOUNS = ("papers", "claims", "figures", "data")
WORKLOADS = (
    "logistic_sgd",
    "late_hinge",
    "parts",
    "xord",
    "softmax_64",
    "softmax_16",
    "descent",
    "flow",
    "classifier",
    "figure_1",
    "linear_runs",
    "linear_steps",
)
MOST_JOBS = 1024


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,  # plain help, without frames
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A laboratory for the theory of wide shallow networks: every theorem is a test, every figure a command.",
)


def _folder(text: str | Path) -> Path:
    """An empty name would be the current folder: most likely a shell variable that is not set."""
    if not str(text).strip():
        raise InputError("--out is empty; name a folder.")
    return Path(text)


PaperOption = Annotated[str | None, typer.Option("--paper", metavar="KEY", help="Only this paper.")]
ScaleOption = Annotated[
    str, typer.Option(metavar="quick|paper", help="quick: seconds to a minute; paper: the paper's own sizes.")
]
SeedOption = Annotated[str, typer.Option(metavar="N", help="The same seed gives the same result.")]
JobsOption = Annotated[
    str | None,
    typer.Option(metavar="N", help="Worker processes; all cores if left out, and with 1 none besides this process."),
]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Compute what is in the store once more.")]
NoStoreOption = Annotated[
    bool, typer.Option("--no-store", help="Read no stored result and keep none: use a temporary folder.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, and nothing else there.")]


def _print_version(wanted: bool) -> bool:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"widenet {version('widenet')}")
        raise typer.Exit
    return wanted


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before the command; `--version` has done its work when this is called."""


@app.command("list", cls=Command, short_help="List papers, or the claims and figures of one.")
def list_command(
    what: Annotated[
        str, typer.Argument(metavar="KEY|papers|claims|figures|data", help="A paper, or all of a kind.")
    ] = "papers",
    paper: PaperOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the papers; with the key of a paper, its claims (main results first) and figures."""
    from widenet import papers
    from widenet.console import catalogue, tables

    keys = [each.key for each in papers.PAPERS]
    if what not in (*NOUNS, *keys):
        raise UnknownName("paper or kind of list", what, (*NOUNS, *keys))
    if what in keys and paper is not None:
        raise InputError(f"{what!r} names a paper already; leave --paper out.")
    if what in keys:
        rows = {each: catalogue.listing(each, what) for each in ("claims", "figures")}
    else:
        rows = {what: catalogue.listing(what, paper)}
    if as_json:
        _print_json(rows if what in keys else rows[what])
    elif not any(rows.values()):
        typer.echo(f"There are no {' and no '.join(rows)} of {paper or what} yet.")
    else:
        tables.show(*(tables.listing_table(each, found) for each, found in rows.items() if found))


@app.command(cls=Command, short_help="Show what a claim supposes and promises.")
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="A claim, a figure or a paper, as in 'widenet list'.")],
    as_json: JsonOption = False,
) -> None:
    """Show a claim with its hypotheses and promises, a figure or a paper. Nothing is run."""
    from widenet.console import catalogue, tables

    row = catalogue.about(id)
    if as_json:
        _print_json(row)
    else:
        tables.show(*tables.about(row))


@app.command(cls=Command, short_help="Check claims: what holds, and how tightly.")
def check(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Claims, as in 'widenet list'; or file.py:name.")
    ] = None,
    paper: PaperOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Every claim.")] = False,
    scale: ScaleOption = "quick",
    seed: SeedOption = "0",
    jobs: JobsOption = None,
    fresh: FreshOption = False,
    no_store: NoStoreOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check claims: are the hypotheses met, what is promised, what was measured, how tight is it."""
    ways = [bool(ids), paper is not None, everything]
    if sum(ways) == 0:
        raise InputError(
            "nothing to check; name a claim ('widenet list KEY' shows those of a paper), or use --paper or --all."
        )
    if sum(ways) > 1:
        raise InputError("name claims, or use --paper, or use --all: only one of the three.")
    size, number, workers = _scale(scale), seed_from(seed), _jobs(jobs)
    from widenet import papers
    from widenet.console import tables, wording

    named = [claim for each in dict.fromkeys(ids or ()) for claim in papers.claims_by(each)]
    claims = list({claim.id: claim for claim in named}.values()) or list(papers.claims_of(paper))
    if not claims:
        raise InputError(f"there are no claims of {paper} yet; 'widenet list' shows what there is.")
    claims.sort(key=wording.kind_order)
    results = _carry_out(claims, (), size, number, workers, fresh, stored=not no_store)
    if as_json:
        _print_json(results.rows()["checks"])
    else:
        tables.show(*tables.check_report(results))
    _exit_by(results)


@app.command(cls=Command, short_help="Draw figures, beside the paper's numbers.")
def figure(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Figures, as in 'widenet list'.")] = None,
    scale: ScaleOption = "quick",
    seed: SeedOption = "0",
    out: Annotated[Path, typer.Option(metavar="DIR", parser=_folder, help="Where the files go.")] = Path("figures"),
    jobs: JobsOption = None,
    fresh: FreshOption = False,
    archive: Annotated[
        bool,
        typer.Option("--archive", help="With --scale paper: write ID.json.gz too, which a paper package can ship."),
    ] = False,
    no_store: NoStoreOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compute and draw figures: SVG, PDF and PNG, the numbers as JSON and CSV, and a comparison with the paper."""
    if not ids:
        raise InputError("nothing to draw; name a figure ('widenet list figures' shows them).")
    size, number, workers = _scale(scale), seed_from(seed), _jobs(jobs)
    if archive and size != "paper":
        raise InputError("--archive keeps results at paper scale; add --scale paper.")
    from widenet import papers
    from widenet.console import output, tables
    from widenet.plots import beside_pages

    figures = [papers.find_figure(each) for each in dict.fromkeys(ids)]
    output.require_writable(out)
    results = _carry_out((), figures, size, number, workers, fresh, stored=not no_store)
    if archive:
        for outcome in results.figures:
            results.files[outcome.id] |= outcome.archive_file()
    written = [output.write_files(out, beside_pages(results.files[outcome.id])) for outcome in results.figures]
    if as_json:
        files = {
            outcome.figure.id: [str(file) for file in each]
            for outcome, each in zip(results.figures, written, strict=True)
        }
        _print_json([row | {"files": files.get(row["id"], [])} for row in results.rows()["figures"]])
    else:
        tables.show(*tables.figure_report(results, written))
    _exit_by(results)


@app.command(cls=Command, short_help="Ask every theorem about your data, and train on it.")
def certify(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="CSV, TSV, NPZ or Parquet, or two NPY files.")],
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The labels, by name or number.")] = None,
    width: Annotated[int | None, typer.Option(metavar="N", help="Neurons of a network, an even number.")] = None,
    step_size: Annotated[float | None, typer.Option(metavar="X", help="Step size of SGD.")] = None,
    init_scale: Annotated[float | None, typer.Option(metavar="X", help="Length of a neuron's first weights.")] = None,
    slope: Annotated[float | None, typer.Option(metavar="X", help="Slope of the Leaky ReLU below 0.")] = None,
    runs: Annotated[int, typer.Option(metavar="N", help="Networks of each width.")] = 5,
    effort: Annotated[float, typer.Option(metavar="X", help="How many times the usual work on networks.")] = 1.0,
    time: Annotated[float | None, typer.Option(metavar="S", help="Stop after S seconds; no limit by default.")] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; repeatable.")] = None,
    scaling: Annotated[str, typer.Option(metavar="auto|ball|none", help="What is done to the inputs first.")] = "auto",
    seed: SeedOption = "0",
    out: Annotated[Path, typer.Option(metavar="DIR", parser=_folder, help="Where the files go.")] = Path(
        "certificates"
    ),
    as_json: JsonOption = False,
) -> None:
    """Say what theory guarantees about your data, what it lacks, and what training really does there."""
    number = seed_from(seed)
    from widenet.certificates import command

    networks = {"width": width, "step_size": step_size, "init_scale": init_scale, "slope": slope, "runs": runs}
    work = {"effort": effort, "time": time, "drop": drop or ()}
    found, written = command.carry_out(files, out, label=label, scaling=scaling, seed=number, **networks, **work)
    print(found.to_json() if as_json else command.screen(found, written))
    if code := command.code_of(found):
        raise typer.Exit(code)


@app.command(cls=Command, short_help="Check and draw everything, and write pages.")
def report(
    out: Annotated[Path, typer.Option(metavar="DIR", parser=_folder, help="The folder of the report.")] = Path(
        "report"
    ),
    scale: ScaleOption = "quick",
    seed: SeedOption = "0",
    jobs: JobsOption = None,
    fresh: FreshOption = False,
    single_file: Annotated[
        bool, typer.Option("--single-file", help="Write DIR/report.html, one file with all pages, and nothing else.")
    ] = False,
    no_store: NoStoreOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check every claim, draw every figure, and write pages about it that need no network."""
    start = time.monotonic()
    size, number, count = _scale(scale), seed_from(seed), _jobs(jobs)
    from widenet.run import Workers, default_jobs
    from widenet.store import Store, default_root

    with Workers(count or default_jobs(), preload=("widenet.plots.style", "widenet.run.executors")) as workers:
        if workers.count > 1 and (fresh or no_store or not Store(default_root()).outcomes.is_dir()):
            workers.start(most=4)  # there is something to draw
        from widenet import papers
        from widenet import report as reports
        from widenet.console import tables, wording
        from widenet.report.addresses import RESULTS
        from widenet.report.changes import changes, results_in

        reports.prepare(out)
        claims = sorted(papers.claims_of(), key=wording.kind_order)
        results = _carry_out(
            claims, papers.figures_of(), size, number, workers.count, fresh, workers, keep=True, stored=not no_store
        )
    before, rows = results_in(out / RESULTS), results.rows()
    changed = None if before is None else changes(before, rows)
    page = reports.build(results, out, papers.PAPERS, single_file, changed, rows)
    if as_json:
        _print_json({"page": str(page), **rows})
    else:
        tables.show(*tables.report_summary(results, page, changed, time.monotonic() - start))
    _exit_by(results)


@app.command(cls=Command, short_help="Ask a claim or an experiment over any of its choices.")
def sweep(
    spec: Annotated[str, typer.Argument(metavar="SPEC.toml", help="What is asked: docs/sweeps.md.")],
    on: Annotated[
        str,
        typer.Option("--on", metavar="WHERE", help="processes, slurm, or a Dask scheduler: tcp://HOST:PORT, tls://…."),
    ] = "processes",
    jobs: JobsOption = None,
    share: Annotated[
        str | None, typer.Option(metavar="I/N", help="Be process I of N that share a store, each started like this.")
    ] = None,
    tasks: Annotated[int | None, typer.Option(metavar="N", help="Tasks of the array of Slurm; 8 by default.")] = None,
    cores: Annotated[int | None, typer.Option(metavar="N", help="Cores of a task, and processes in it.")] = None,
    gpus: Annotated[int | None, typer.Option(metavar="N", help="GPUs of a task: 0 or 1.")] = None,
    walltime: Annotated[str | None, typer.Option(metavar="TIME", help="Of a task, such as 4:00:00.")] = None,
    partition: Annotated[str | None, typer.Option(metavar="NAME", help="Of Slurm.")] = None,
    sbatch: Annotated[
        list[str] | None, typer.Option(metavar="OPTION", help="An option of sbatch as it is; may be given again.")
    ] = None,
    print_script: Annotated[
        bool, typer.Option("--print", help="Show the script that --on slurm would submit, and submit nothing.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Compute a few points, and say what the rest costs.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Say what is finished, and compute nothing.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try points that failed once more.")] = False,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw what is finished (.png, .svg, .pdf), and compute nothing."),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write what is finished (.nc, .parquet, .csv); compute nothing."),
    ] = None,
    no_store: NoStoreOption = False,
    as_json: JsonOption = False,
) -> None:
    """Ask a claim or an experiment over a grid of its choices. What is finished is kept, whatever ends the sweep."""
    count = _jobs(jobs)
    from widenet.sweeps import terminal
    from widenet.sweeps.command import Wish, carry_out

    terminal.require_place(on, share)
    where = terminal.Where(on, count, None if share is None else terminal.share_of(share))
    asked = {"tasks": tasks, "cores": cores, "gpus": gpus, "walltime": walltime, "partition": partition}
    array = terminal.array_of(on, asked | {"sbatch": sbatch, "print": print_script or None})
    wish = Wish(status, dry_run, retry, print_script, not no_store, plot, export, as_json)
    if code := carry_out(spec, where, array, wish):
        raise typer.Exit(code)


@app.command(cls=Command, short_help="Run one point: a claim or an experiment with these choices.")
def run(
    of: Annotated[str, typer.Argument(metavar="OF", help="A claim or an experiment.")],
    chosen: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A choice or a field; may be given again.")
    ] = None,
    data: Annotated[str | None, typer.Option(metavar="FILE", help="Your data, for a claim.")] = None,
    runs: Annotated[int | None, typer.Option(metavar="N", help="Networks that are trained.")] = None,
    seed: SeedOption = "0",
    no_store: NoStoreOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a claim on data, or an experiment, at one point: a sweep without axes."""
    number = seed_from(seed)
    from widenet.store.unkept import with_store
    from widenet.sweeps import terminal

    numbers = with_store(
        lambda store: terminal.one_run(of, chosen or (), data, number, runs, store).load(), keep=not no_store
    )
    row = terminal.rows_of(numbers)[0]
    if as_json:
        _print_json({"of": of, **numbers.attrs, **row})
    else:
        print("\n".join(f"{name}: {value}" for name, value in row.items() if value != ""))
    if code := terminal.code_of(numbers):
        raise typer.Exit(code)


@app.command(cls=Command, short_help="Show what is stored, and clean it.")
def store(
    name: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="Only experiments of this name; * stands for anything.")
    ] = None,
    older: Annotated[str | None, typer.Option(metavar="AGE", help="Only what is older: 12h, 30d, 2w.")] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Only results of code that has changed since.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without a question.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the store by experiment; with --name, --older or --stale show those alone, and remove them if you agree."""
    if yes and name is None and older is None and not stale:
        raise InputError("--yes removes what --name, --older or --stale choose; name one (--name '*' is everything).")
    from widenet.console import stores
    from widenet.store import Store, default_root

    row = stores.carry_out(Store(default_root()), name, older, stale, yes)
    if as_json:
        _print_json(row)
    else:
        print(stores.table_of(row))


@app.command(cls=Command, short_help="Time training beside JAX and PyTorch.")
def bench(
    workloads: Annotated[
        list[str] | None,
        typer.Option("--workload", metavar="NAME", help=f"Only this of {', '.join(WORKLOADS)}; may be given again."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", parser=_folder, help="Where the chart and its rows go.")] = Path(
        "bench"
    ),
    as_json: JsonOption = False,
) -> None:
    """Time training beside JAX, PyTorch and the machine's limits; first, all must arrive at the same weights."""
    _find_benchmarks()
    from benchmarks import command
    from benchmarks.measure import Disagreement
    from widenet.console import output, tables

    output.require_writable(out)
    try:
        results = command.measure(workloads or ())
    except Disagreement as error:
        typer.echo(f"widenet: {error}", err=True)
        raise typer.Exit(1) from None
    written, removed = command.write(results, out)
    interrupts.files_are_written()
    if as_json:
        _print_json([row.as_json() for result in results for row in result.rows])
    else:
        blocks = [tables.bench_block([row.as_json() for row in each.rows], each.remarks) for each in results]
        lines = [f"removed {path}, of earlier rows" for path in removed] + [f"wrote {path}" for path in written]
        no_chart = [] if len(written) > 1 else ["there is no chart for these workloads"]
        tables.show(*blocks, "\n".join(lines + no_chart))


def _find_benchmarks() -> None:
    """Make the folder `benchmarks` of a clone importable; an installed package comes without it."""
    clone = Path(__file__).resolve().parents[2]
    if not (clone / "benchmarks" / "command.py").is_file():
        raise InputError("'widenet bench' needs a clone of the repository; run pip install -e '.[bench]' in one.")
    if str(clone) not in sys.path:
        sys.path.insert(0, str(clone))


def _carry_out(
    claims: "Iterable[Claim]",
    figures: "Iterable[Figure]",
    scale: "Scale",
    seed: int,
    jobs: int | None,
    fresh: bool,
    workers: "Workers | None" = None,
    keep: bool = False,
    stored: bool = True,
) -> "Results":
    """The outcomes of the claims and of the figures, with progress on stderr.

    With `keep`, they are kept, and those of earlier reports are found again. Without `stored`, nothing is.
    """
    from widenet.console import wording
    from widenet.console.progress import watching
    from widenet.records import Scale
    from widenet.run import Cells, Kept, Plan, Processes, default_jobs
    from widenet.run.executors import WORTH_A_PROCESS
    from widenet.store import Store
    from widenet.store.unkept import with_store

    # What a cell costs is known for the quick scale. At the paper's own sizes a process is always worth its start.
    worth = WORTH_A_PROCESS if scale is Scale.QUICK else 0.0

    def work(store: Store) -> "Results":
        with Processes(jobs or default_jobs(), store.compiled, worth, workers) as executor:
            cells = Cells(store, executor, fresh=fresh)
            plan = Plan(tuple(claims), tuple(figures), scale, seed, cells, Kept(cells) if keep else None)
            with watching(plan.n_pieces, plan.seconds, plan.pieces_by_paper) as watch:
                return plan.carry_out(watch, wording.in_short)

    return with_store(work, keep=stored)


def _scale(text: str) -> "Scale":
    from widenet.records import Scale

    return Scale.named(text)


def _jobs(text: str | None) -> int | None:
    if text is None:
        return None
    jobs = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= jobs <= MOST_JOBS:
        raise InputError(f"--jobs must be a whole number between 1 and {MOST_JOBS}, got {text!r}.")
    return jobs


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def _exit_by(results: "Results") -> None:
    if code := code_of(results):
        raise typer.Exit(code)


def main() -> None:
    """The entry point of the `widenet` command."""
    # Modules, records and pages make millions of objects that live to the end: Python would walk all of them again and
    # again in search of rings to collect, for a fifth of the time of a second report.
    gc.set_threshold(50_000, 20, 50)
    interrupts.watch()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has no "≤" shows a "?" there; it gets no traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        app(prog_name="widenet")
    finally:
        interrupts.leave()


if __name__ == "__main__":
    main()

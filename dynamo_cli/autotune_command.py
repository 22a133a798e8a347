"""`dynamo autotune`."""

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from dynamo_core.bench.autotune.rounds import DEFAULT_BUDGET
from dynamo_core.bench.autotune.tuning import CANDIDATES, GraphToTune, Result
from dynamo_core.case import Case
from dynamo_core.model import Recording, Run
from dynamo_core.shared.backend_choice import parse_chain
from dynamo_core.shared.errors import NotMeasured
from dynamo_core.shared.winners import DEFAULT_FILE
from dynamo_reporters.autotune_document import Tuning
from dynamo_reporters.report import Report

from .main import end_early_on_sigterm
from .on_option import cluster, on_option
from .options import all_option, completed_by, documented_option, time_limit_option
from .program import program_of
from .report_command import is_to_be_run, report_command
from .running import RunProgress, say


@report_command("autotune")
@documented_option(
    "--candidates",
    metavar="NAME,…",
    shell_complete=completed_by("chain"),
    help="Backends to measure, as --backend takes them.  "
    f"[default: {','.join(CANDIDATES)}; on a GPU also cudagraphs and inductor:reduce-overhead]",
)
@time_limit_option(
    "For compiling and checking a graph with one candidate, and for each batch of calls.", 120.0, 1
)
@documented_option(
    "--budget",
    type=click.FloatRange(min=0),
    default=DEFAULT_BUDGET,
    metavar="SECONDS",
    help="For the rounds of one graph, which end before that where they decide. As many more confirm a close "
    "win.",
)
@documented_option("--again", is_flag=True, help="Measure everything, not only what is new.")
@on_option("each graph")
@all_option("Show every graph's table, however many there are.")
def autotune_command(
    candidates: str | None, time_limit: float, budget: float, again: bool, on: str | None, show_all: bool
) -> Report[Case]:
    """Find the best backend for each graph, and keep it for --backend autotuned.

    Every distinct graph is measured under every candidate, on made-up inputs of the recorded shapes: each
    candidate in a process of its own, in turn, forward and, where the graph trains, backward. One that does
    not agree with eager is rejected; a crash or a hang is a result. A winner is stored where the rounds
    decide: the simplest than which no other is faster by more than 3 %, nor, with 99 % confidence, by more
    than 6 %. The recorded graphs' code is run, so give it only recordings that you trust.

    TARGET_HELP

    \b
    Examples:
      dynamo autotune train.py                            run it, measure its graphs
      dynamo autotune --candidates eager,inductor         the newest recording
      dynamo run --backend autotuned train.py             the winners at work
    """
    from dynamo_reporters.autotune import report

    ctx = click.get_current_context()
    names = None if candidates is None else _candidates(candidates, ctx)

    def tune(recording: Recording) -> Tuning:
        return _tune(recording, names, ctx.params)

    return report(tune, show_all)


def _candidates(text: str, ctx: click.Context) -> list[str]:
    """The names to measure, those of files with their whole path; BackendProblem, UsageError.

    For other machines they stay as they are named: these are to have them.
    """
    try:
        if ctx.params["on"] is not None:
            named = list(map(str, parse_chain(text)))
        else:
            named = _checked_here(text, ctx).split(",")
    except ValueError as error:
        raise click.UsageError(f"--candidates: {error}") from error
    if "autotuned" in named:
        raise click.UsageError("--candidates: autotuned stands for the winner, and cannot be one")
    return list(dict.fromkeys(named))


def _checked_here(text: str, ctx: click.Context) -> str:
    from dynamo_core.launch.checks import check_backend
    from dynamo_core.launch.program import Program, check_python, default_python
    from dynamo_core.shared.settings import Settings

    program = program_of(ctx)
    if program is None or not is_to_be_run(program):
        program = Program(("-",), is_python=True)  # whose modules are looked for here
    python = check_python(ctx.params["python"]) if ctx.params["python"] else default_python()
    return check_backend(Settings(recording="", backend=text), program, python).backend


def _tune(
    recording: Recording,
    candidates: list[str] | None,
    options: dict[str, Any],
) -> Tuning:
    from dynamo_core.bench.autotune.tuning import distinct_graphs

    graphs = distinct_graphs(recording)
    if not graphs:
        raise NotMeasured(f"there is no compiled graph in {recording.path} to measure")
    file: Path = options["autotune_file"] or DEFAULT_FILE
    done: dict[int, Result] = {}
    unusable: dict[str, str] = {}
    to_tune = [graph.to_tune for graph in graphs]
    end_early_on_sigterm()
    # After a program has run, signals wait for its end (launch/process.py); here they must not.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    tune = _tuned_here if options["on"] is None else _tuned_on_cluster
    try:
        for place, result, of_it in tune(to_tune, candidates, _import_path(recording), file, options):
            done[place] = result
            unusable |= of_it
    except KeyboardInterrupt:
        say(
            f"dynamo: interrupted: {len(done)} of {len(graphs)} graphs are done and kept in {file}; "
            "the same command goes on from there"
        )
        raise
    results = [done[place] for place in range(len(graphs))]
    if not any(result.tuned for result in results):
        raise NotMeasured(f"no graph could be measured: graph {graphs[0].first.number}: {results[0].problem}")
    return Tuning(str(file), graphs, results, unusable)


# Each graph's place, its result, and the candidates that cannot be used, and why.
_Results = Iterator[tuple[int, Result, dict[str, str]]]


def _tuned_here(
    graphs: Sequence[GraphToTune],
    candidates: list[str] | None,
    import_path: list[str],
    file: Path,
    options: dict[str, Any],
) -> _Results:
    from dynamo_core.bench.autotune.rounds import Bench
    from dynamo_core.bench.autotune.tuning import tune
    from dynamo_core.launch.program import check_python, default_python

    with (
        Bench(
            python=check_python(options["python"]) if options["python"] else default_python(),
            import_path=import_path,
            time_limit=options["time_limit"],
            budget=options["budget"],
        ) as bench,
        RunProgress("graph") as progress,
    ):
        begun: set[int] = set()

        def tell(number: int, of: int, what: str) -> None:
            if progress.is_drawn or number not in begun:  # else a line for each graph
                progress.announce("measuring", number - 1, of, what if progress.is_drawn else None)
            begun.add(number)

        results = tune(graphs, candidates, bench, file, again=options["again"], progress=tell)
        for place, result in enumerate(results):
            yield place, result, bench.unusable()


def _tuned_on_cluster(
    graphs: Sequence[GraphToTune],
    candidates: list[str] | None,
    import_path: list[str],
    file: Path,
    options: dict[str, Any],
) -> _Results:
    from dynamo_core.bench.autotune.cluster import MeasureOptions, tune_on

    means = MeasureOptions(options["python"], tuple(import_path), options["time_limit"], options["budget"])
    with cluster(options["on"], None) as ray, RunProgress("graph") as progress:

        def tell(line: str) -> None:
            progress.say(f"dynamo: {line}")

        tuned = tune_on(ray, graphs, candidates, means, file, again=options["again"], tell=tell)
        progress.announce("measuring on the Ray cluster", 0, len(graphs))
        for done, found in enumerate(tuned, start=1):
            yield found
            if done < len(graphs):
                progress.announce("measuring on the Ray cluster", done, len(graphs))


def _import_path(recording: Recording) -> list[str]:
    """Where backends are looked for that are named `module:function`: beside the program, and here."""
    run = recording.run or Run()
    scripts = [Path(run.cwd, part) for part in run.command or () if run.cwd]
    beside = [str(script.parent) for script in scripts if script.suffix == ".py" and script.is_file()][:1]
    return [*beside, str(Path.cwd())]

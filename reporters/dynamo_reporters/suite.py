"""`dynamo bench --suite`: the page."""

from collections.abc import Iterator, Sequence
from typing import Any

from dynamo_core.analysis.words import count_text, number, seconds
from dynamo_core.bench.comparison import Speed
from dynamo_core.bench.suite.file import BrokenBound
from dynamo_core.bench.suite.results import Change, Difference
from dynamo_core.bench.suite.rows import BackendSummary, ProgramResult, Row
from dynamo_core.bench.suite.runner import Compared, JudgedSuite
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.quick_dataclass import dataclass

from .documents import csv_text
from .page.blocks import Block, Bullets, Estimate, Heading, Paragraph, Table, section, table
from .parts.measured import factor, interval, megabytes, speed_cells, speed_ups_drawn
from .report import Report

_CHANGES: dict[Change, str] = {
    "newly failing": "fails now, and did not",
    "slower": "slower",
    "gone": "no longer measured",
    "faster": "faster",
    "passes now": "passes now, and did not",
    "new": "was not measured then",
}


def report(results: str) -> Report[JudgedSuite]:
    """The report of `dynamo bench --suite`; `results` is the folder of results."""
    return Report(
        "suite", lambda judged: suite_blocks(judged, results), lambda judged: suite_document(judged, results)
    )


def suite_blocks(judged: JudgedSuite, results: str) -> Iterator[Block]:
    """The page as blocks; `results` is the folder of results."""
    run = judged.run
    yield Heading(_headline(judged), 1)
    yield Paragraph(_what_was_done(judged))
    yield from section("Broken bounds", Bullets([_beyond_text(each) for each in judged.beyond], "warning"))
    if judged.compared is not None:
        yield from _compared(judged.compared)
    yield Heading("Each backend over all programs")
    yield _summaries(judged.summaries)
    yield Heading("Speed-up over eager")
    yield _speeds(run.results)
    yield from speed_ups_drawn(_estimates(run.results))
    yield Paragraph(
        "Eager's time by the backend's in the same round, the geometric mean over rounds, with its 95 % "
        "interval. Times are of a step, or of the run without imports and compiling where no step was found.",
        "dim",
    )
    yield from _machines(run.results)
    costs = _costs(run.results)
    if costs.rows:
        yield Heading("Compiling and memory")
        yield costs
    yield from _problems(run.results)
    yield Heading("More")
    yield Paragraph(
        f"{results} has the rows (speedups.csv) and, for each program, what its runs wrote and their "
        f"recordings:\ndynamo explain | profile | graphs  {results}/runs/PROGRAM/BACKEND-ROUND",
        "dim",
    )


def _headline(judged: JudgedSuite) -> str:
    others = [each for each in judged.summaries if each.backend != "eager"]
    if not any(each.passed for each in judged.summaries):
        return "No program of the suite could be measured."
    if not others:
        return " ".join(
            f"{_passed(only)} under eager, the only backend{_on(only)}." for only in judged.summaries
        )
    return " ".join(f"{_mean(each)}; {_passed(each)}." for each in others)


def _on(summary: BackendSummary) -> str:
    return "" if summary.hardware is None else f" on {summary.hardware}"


def _mean(summary: BackendSummary) -> str:
    if summary.geometric_mean is None:
        return f"{summary.backend}{_on(summary)}: no speed-up was measured"
    over = number(summary.compared, "program")
    times = factor(summary.geometric_mean)
    return f"{summary.backend} is {times} times as fast as eager{_on(summary)}, the geometric mean of {over}"


def _passed(summary: BackendSummary) -> str:
    return f"{summary.passed:,} of {number(summary.programs, 'program')} {_verb(summary.passed)}"


def _verb(count: int) -> str:
    return "passes" if count == 1 else "pass"


def _what_was_done(judged: JudgedSuite) -> str:
    run = judged.run
    text = f"The suite {run.suite.name}, torch {run.installed.torch or 'not recorded'}. "
    text += "Each run is a process of its own; the backends take turns."
    if run.kept:
        were = "was" if run.kept == 1 else "were"
        text += f" {number(run.kept, 'program')} {were} measured earlier, in the same way (--again)."
    if run.is_interrupted:
        missing = len(run.suite.programs) - len(run.results)
        text += f" Interrupted: {number(missing, 'program')} not measured; the same command goes on."
    return text


def _beyond_text(beyond: BrokenBound) -> str:
    return f"{beyond.subject}: {beyond.bound} = {beyond.limit:g}, found {beyond.found}"


def _compared(compared: Compared) -> Iterator[Block]:
    yield Heading(f"Since {compared.older}")
    shown = [each for each in compared.differences if each.backend != "eager" or each.problem]
    if not shown:
        yield Paragraph("Nothing became slower or faster beyond both intervals, and nothing newly fails.")
    worse = [_difference_text(each) for each in shown if each in compared.worse]
    yield Bullets(worse, "warning")
    yield Bullets([_difference_text(each) for each in shown if each not in compared.worse])
    if compared.undecided:
        rows = number(compared.undecided, "row")
        yield Paragraph(f"{rows} could not be compared: one round has no interval (--repeat).", "dim")
    if compared.on_other_hardware:
        rows = number(compared.on_other_hardware, "row")
        yield Paragraph(
            f"{rows} could not be compared: measured on other hardware, or it is not recorded on which.",
            "dim",
        )


def _difference_text(each: Difference) -> str:
    text = f"{each.program} under {each.backend}: {_CHANGES[each.change]}"
    if each.problem is not None:
        return f"{text}: {each.problem}"
    if each.before is not None and each.after is not None:
        return f"{text}: {_speed(each.before)} then, {_speed(each.after)} now"
    return text


def _speed(speed: Speed) -> str:
    bounds = "" if speed.low is None or speed.high is None else f" ({interval(speed.low, speed.high)})"
    return f"{factor(speed.mean)}{bounds}"


def _summaries(summaries: tuple[BackendSummary, ...]) -> Table:
    on = "on" if any(each.hardware for each in summaries) else ""
    return table(
        f"backend|{on}|programs>|pass>|rate>|agree>|disagree>|fail>|geometric mean>|faster>|slower>",
        [
            [
                each.backend,
                each.hardware or "",
                f"{each.programs:,}",
                f"{each.passed:,}",
                f"{each.pass_rate:.0%}",
                "" if each.backend == "eager" else f"{each.verified:,}",
                "" if each.backend == "eager" else f"{each.disagreeing:,}",
                f"{each.failed:,}",
                *_mean_cells(each),
            ]
            for each in summaries
        ],
    )


def _mean_cells(summary: BackendSummary) -> tuple[str, str, str]:
    if summary.backend == "eager":
        return "1", "", ""
    mean = "not measured" if summary.geometric_mean is None else factor(summary.geometric_mean)
    return mean, f"{summary.faster:,}", f"{summary.slower:,}"


def _speeds(results: list[ProgramResult]) -> Table:
    rows = [
        [
            result.program,
            row.backend,
            row.basis or "",
            _time(result.row("eager")),
            _time(row),
            *_speed_cells(row),
            row.agreement or "",
        ]
        for result in results
        for row in _others(result)
    ]
    return table("program|backend|of a|eager>|time>|speed-up>|95 %|outputs", rows)


def _others(result: ProgramResult) -> list[Row]:
    """The rows to show: without eager's, where there are others."""
    return [row for row in result.rows if not row.is_eager] or list(result.rows)


def _time(row: Row | None) -> str:
    if row is None or row.median_seconds is None:
        return "" if row is None or row.outcome == "failed" else "not recorded"
    return seconds(row.median_seconds)


def _speed_cells(row: Row) -> tuple[str, str]:
    speed = row.speed_up
    if row.outcome == "failed":
        return "failed", ""
    if speed is None:
        return ("1" if row.is_eager else "not measured"), ""
    return factor(speed.mean), (
        "one round" if speed.low is None or speed.high is None else interval(speed.low, speed.high)
    )


def _estimates(results: list[ProgramResult]) -> Iterator[Estimate]:
    for result in results:
        for row in result.rows:
            speed = row.speed_up
            if speed is not None and speed.low is not None and speed.high is not None:
                yield Estimate(f"{result.program}, {row.backend}", speed.mean, speed.low, speed.high)


def _machines(results: list[ProgramResult]) -> Iterator[Block]:
    """Where it was measured: in a line, or a row for each kind of place."""
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for result in results:
        machine = result.machine
        if machine is not None and result.rows:
            key = (machine.host, machine.hardware, machine.python or "", machine.torch or "")
            places.setdefault(key, []).append(result.program)
    if len(places) == 1:
        [(host, hardware, python, torch)] = places
        with_ = ", ".join(
            f"{name} {version}" for name, version in (("Python", python), ("torch", torch)) if version
        )
        yield Paragraph(f"Measured on {host}: {hardware}{f'; {with_}' if with_ else ''}.", "dim")
    elif places:
        yield Heading("Where it was measured")
        yield table(
            "host|hardware|Python|torch|programs",
            [[*key, ", ".join(programs)] for key, programs in places.items()],
        )


def _costs(results: list[ProgramResult]) -> Table:
    rows = [
        [
            result.program,
            row.backend,
            "" if row.is_eager else seconds(row.compile_cold_seconds),
            "" if row.is_eager else seconds(row.compile_warm_seconds),
            *(_count(row, count) for count in (row.graphs, row.graph_breaks, row.recompiles)),
            megabytes(row.peak_bytes),
            *([megabytes(row.peak_cuda_bytes)] if _has_cuda(results) else []),
        ]
        for result in results
        for row in result.rows
        if row.peak_bytes is not None or row.graphs is not None
    ]
    on_the_gpu = "|on the GPU>" if _has_cuda(results) else ""
    return table(
        f"program|backend|cold>|warm>|graphs>|breaks>|recompiles>|peak memory>{on_the_gpu}",
        rows,
    )


def _has_cuda(results: list[ProgramResult]) -> bool:
    return any(row.peak_cuda_bytes is not None for result in results for row in result.rows)


def _count(row: Row, count: int | None) -> str:
    if row.is_eager:
        return ""
    return count_text(count)


def _problems(results: list[ProgramResult]) -> Iterator[Block]:
    failed, wrong = [], []
    for result in results:
        causes: dict[tuple[str | None, str | None], list[str]] = {}
        for row in result.rows:
            if row.outcome == "failed":
                causes.setdefault((row.problem, row.log), []).append(row.backend)
            if row.outcome == "disagrees":
                wrong.append(f"{result.program} under {row.backend}: {row.agreement_detail}")
        for (problem, log), backends in causes.items():
            where = "" if log is None else f"; log: {log}"
            under = "" if "eager" in backends else f" under {', '.join(backends)}"
            failed.append(f"{result.program}{under}: {problem}{where}")
    skipped = [f"{result.program}: {result.skipped}" for result in results if result.skipped is not None]
    for title, lines in (("What failed", failed), ("What disagrees with eager", wrong)):
        yield from section(title, Bullets(lines, "warning"))
    yield from section("Not run", Bullets(skipped))


_COLUMNS = (
    *("program", "backend", "outcome", "basis", "median_seconds", "speed_up", "ci_low", "ci_high", "rounds"),
    *("compile_cold_seconds", "compile_warm_seconds", "peak_bytes", "peak_cuda_bytes"),
    *("graphs", "graph_breaks", "recompiles", "agreement", "problem", "log", "host", "hardware"),
)


@dataclass(frozen=True)
class SuiteDocument:
    """A suite of programs, each under each backend. What was not measured is null, never 0. Figures of
    different hardware are not compared: a backend has a summary for each.

    `kept` counts the results that are from an earlier run of the same command, `in_all` the programs of the
    suite. `beyond` has the bounds that are not kept.
    """

    suite: str
    torch: str | None
    results: str
    in_all: int
    kept: int
    is_interrupted: bool
    summaries: tuple[BackendSummary, ...]
    programs: tuple[ProgramResult, ...]
    compared: Compared | None
    beyond: tuple[BrokenBound, ...]


def suite_document(judged: JudgedSuite, results: str) -> SuiteDocument:
    """The document; `results` is the folder in which the logs are found."""
    run = judged.run
    return from_fields(
        SuiteDocument,
        judged,
        suite=run.suite.name,
        torch=run.installed.torch,
        results=results,
        in_all=len(run.suite.programs),
        kept=run.kept,
        is_interrupted=run.is_interrupted,
        programs=tuple(run.results),
    )


def suite_csv(results: Sequence[ProgramResult]) -> str:
    """A row for each program under each backend; what is not known is empty."""
    rows: list[dict[str, Any]] = []
    for result in results:
        if result.skipped is not None:
            rows.append({"program": result.program, "outcome": "not run", "problem": result.skipped})
        rows += (_cells(result, row) for row in result.rows)
    return csv_text(_COLUMNS, rows)


def _cells(result: ProgramResult, row: Row) -> dict[str, Any]:
    machine = result.machine
    figures = {name: getattr(row, name) for name in _COLUMNS if hasattr(row, name)}
    return figures | {
        "program": result.program,
        **speed_cells(row.speed_up),
        "host": None if machine is None else machine.host,
        "hardware": None if machine is None else machine.hardware,
    }

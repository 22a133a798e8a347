"""`dynamo bench --suite` as JSON and as CSV: one declaration for the document and its schema."""

import csv
import io
from collections.abc import Sequence
from typing import Any, Literal

from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.suite.bounds import Beyond
from dynamo_core.suite.judged import Compared, Judged
from dynamo_core.suite.rows import ProgramResult, Row
from dynamo_core.suite.summary import BackendSummary

from ..documents import json_value
from ..exported import csv_row

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

    schema: Literal["dynamo-suite"]
    version: Literal[2]
    suite: str
    torch: str | None
    results: str
    in_all: int
    kept: int
    is_interrupted: bool
    summaries: tuple[BackendSummary, ...]
    programs: tuple[ProgramResult, ...]
    compared: Compared | None
    beyond: tuple[Beyond, ...]


def suite_document(judged: Judged, results: str) -> dict[str, Any]:
    """The document; `results` is the folder in which the logs are found."""
    run = judged.run
    document = SuiteDocument(
        schema="dynamo-suite",
        version=2,
        suite=run.suite.name,
        torch=run.installed.torch,
        results=results,
        in_all=len(run.suite.programs),
        kept=run.kept,
        is_interrupted=run.is_interrupted,
        summaries=judged.summaries,
        programs=tuple(run.results),
        compared=judged.compared,
        beyond=judged.beyond,
    )
    value: dict[str, Any] = json_value(document)
    return value


def suite_csv(results: Sequence[ProgramResult]) -> str:
    """A row for each program under each backend; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for result in results:
        if result.skipped is not None:
            writer.writerow(
                csv_row({"program": result.program, "outcome": "not run", "problem": result.skipped})
            )
        for row in result.rows:
            writer.writerow(csv_row(_cells(result, row)))
    return text.getvalue()


def _cells(result: ProgramResult, row: Row) -> dict[str, Any]:
    speed, machine = row.speed_up, result.machine
    figures = {name: getattr(row, name) for name in _COLUMNS if hasattr(row, name)}
    return figures | {
        "program": result.program,
        "speed_up": None if speed is None else speed.mean,
        "ci_low": None if speed is None else speed.low,
        "ci_high": None if speed is None else speed.high,
        "rounds": None if speed is None else speed.rounds,
        "host": None if machine is None else machine.host,
        "hardware": None if machine is None else machine.hardware,
    }

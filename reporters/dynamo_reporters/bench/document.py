"""`dynamo bench` as JSON values and as CSV."""

import csv
import io
from typing import Any

from dynamo_core.bench.comparison import Figures, compare
from dynamo_core.bench.measured import Bench
from dynamo_core.bench.outputs import OutputComparison

from ..exported import csv_row
from ..report import place_value
from .graph_times import graph_times_values

_COLUMNS = (
    *("backend", "mode", "basis", "median_seconds", "speed_up", "ci_low", "ci_high", "rounds"),
    *("compile_cold_seconds", "compile_warm_seconds", "break_even_steps", "peak_bytes", "peak_cuda_bytes"),
    *("graphs", "graph_breaks", "recompiles", "agreement", "output", "problem"),
)


def bench_document(bench: Bench) -> dict[str, Any]:
    """The document. Absent data is null, never 0."""
    step = bench.step
    return {
        "schema": "dynamo-bench",
        "version": 1,
        "program": bench.program,
        "rounds": bench.rounds,
        "threads": list(bench.threads),
        "is_interrupted": bench.is_interrupted,
        "step": None
        if step is None
        else {
            "function": step.name,
            "place": place_value(step.place),
            "called_at": place_value(step.called_at),
        },
        "recordings": bench.recordings,
        "backends": [_backend_value(figures, bench) for figures in compare(bench)],
        "graphs": None if bench.graphs is None else graph_times_values(bench.graphs),
    }


def speedups_csv(bench: Bench) -> str:
    """A row a backend; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for figures in compare(bench):
        writer.writerow(csv_row(_row(figures, _backend_value(figures, bench))))
    return text.getvalue()


def _backend_value(figures: Figures, bench: Bench) -> dict[str, Any]:
    backend, first, speed = figures.backend, figures.first_success, figures.speed_up
    return {
        "backend": backend.name,
        "problem": backend.problem,
        "basis": figures.basis,
        "why_run": figures.why_run,
        "steps_compared": figures.steps_compared,
        "seconds": list(figures.seconds),
        "median_seconds": figures.median_seconds,
        "speed_up": None
        if speed is None
        else {
            "mean": speed.estimate,
            "low": None if speed.interval is None else speed.interval[0],
            "high": None if speed.interval is None else speed.interval[1],
            "rounds": speed.rounds,
        },
        "is_decided": figures.is_decided,
        "compile_seconds": {"cold": figures.compile_cold, "warm": figures.compile_warm},
        "break_even_steps": figures.break_even,
        "peak_bytes": {"resident": figures.peak_resident, "cuda": figures.peak_cuda},
        "graphs": None if first is None else first.graphs,
        "graph_breaks": None if first is None else first.graph_breaks,
        "recompiles": None if first is None else first.recompiles,
        "agreement": None
        if backend.is_eager
        else {"verdict": backend.agreement.verdict, "detail": backend.agreement.detail},
        "output": _output_value(figures.output),
        "runs": [
            {
                "round": number,
                "problem": run.problem,
                "others_share": run.load.others,
                "waiting_share": run.load.waiting,
                "recording": None if bench.recordings is None else run.recording,
            }
            for number, run in backend.runs.items()
        ],
    }


def _output_value(output: OutputComparison | None) -> dict[str, Any] | None:
    if output is None:
        return None
    return {
        "likeness": output.likeness,
        "relative_difference": output.relative_difference,
        "line": output.line,
        "is_partial": output.is_partial,
    }


def _row(figures: Figures, value: dict[str, Any]) -> dict[str, Any]:
    speed = value["speed_up"] or {}
    return {
        "backend": value["backend"],
        "mode": figures.backend.mode,
        "basis": value["basis"],
        "median_seconds": value["median_seconds"],
        "speed_up": speed.get("mean"),
        "ci_low": speed.get("low"),
        "ci_high": speed.get("high"),
        "rounds": speed.get("rounds"),
        "compile_cold_seconds": value["compile_seconds"]["cold"],
        "compile_warm_seconds": value["compile_seconds"]["warm"],
        "break_even_steps": value["break_even_steps"],
        "peak_bytes": value["peak_bytes"]["resident"],
        "peak_cuda_bytes": value["peak_bytes"]["cuda"],
        "graphs": value["graphs"],
        "graph_breaks": value["graph_breaks"],
        "recompiles": value["recompiles"],
        "agreement": (value["agreement"] or {}).get("verdict"),
        "output": (value["output"] or {}).get("likeness"),
        "problem": value["problem"],
    }

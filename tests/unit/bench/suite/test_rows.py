"""A program's rows of a suite, from the runs that were measured: its outcome, its log and its figures."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.bench.measured import Agreement, Backend, Bench, Run
from dynamo_core.bench.suite.rows import Row, log_name, rows_of, rows_without_figures

FOLDER = Path("/results/runs/bert")


def run(seconds: float, **more: Any) -> Run:
    return Run(working_seconds=seconds, **more)


def backend(name: str, *runs: Run, verdict: Any = "agrees") -> Backend:
    detail = "graph 1, output 0" if verdict == "disagrees" else None
    return Backend(name, runs=dict(enumerate(runs, 1)), agreement=Agreement(verdict, detail))


def rows(*others: Backend, eager: tuple[float, ...] = (4.0, 4.2)) -> tuple[Row, ...]:
    backends = [backend("eager", *map(run, eager)), *others]
    return rows_of(Bench("bert", len(eager), backends, no_step="nothing repeats"), FOLDER)


def test_a_row_has_the_figures_of_its_backend() -> None:
    peaks = {"resident": 10, "cuda:0": 7, "cuda:1": 9}
    first = run(2.0, compile_seconds=3.0, graphs=2, graph_breaks=1, recompiles=0, peaks=peaks)
    second = run(2.1, compile_seconds=0.5, graphs=9, peaks={"resident": 20})
    eager, inductor = rows(backend("inductor", first, second))
    assert inductor == Row(
        *("inductor", "passed", None, None, "run", 2.05, inductor.speed_up, 3.0, 0.5, 15, 9, 2, 1, 0),
        *("agrees", None),
    )
    assert inductor.speed_up is not None and inductor.speed_up.low is not None
    assert (round(inductor.speed_up.mean, 6), inductor.speed_up.rounds) == (2.0, 2)
    assert (eager.speed_up, eager.agreement, eager.agreement_detail, eager.outcome) == (
        None,
        None,
        None,
        "passed",
    )
    assert (eager.is_eager, inductor.is_eager) == (True, False)


def test_one_round_has_a_speed_up_without_an_interval() -> None:
    _, inductor = rows(backend("inductor", run(2.0)), eager=(4.0,))
    assert inductor.speed_up is not None
    assert (inductor.speed_up.low, inductor.speed_up.high, inductor.speed_up.rounds) == (None, None, 1)
    assert inductor.compile_warm_seconds is None


def test_an_interval_that_goes_beyond_all_numbers_ends_at_a_large_one() -> None:
    _, noisy = rows(backend("inductor", run(1e-9), run(1e9)))
    assert noisy.speed_up is not None
    assert noisy.speed_up.high == 1e9


def test_what_failed_in_any_round_has_failed_with_the_log_of_that_round() -> None:
    failed = run(9.0, problem="exit code 1", log="/results/runs/bert/inductor-2.stderr")
    _, row = rows(backend("inductor", run(2.0, graphs=1), failed, verdict="disagrees"))
    assert (row.outcome, row.problem, row.log) == ("failed", "exit code 1", "runs/bert/inductor-2.stderr")
    assert (row.median_seconds, row.graphs, row.has_passed) == (2.0, 1, False)
    _, without = rows(backend("inductor", run(2.0), replace(failed, log=None)))
    assert (without.outcome, without.log) == ("failed", None)


def test_a_backend_that_never_came_to_an_end_has_no_figures() -> None:
    _, row = rows(backend("mine", *[run(1.0, problem="killed by SIGSEGV")] * 2))
    assert (row.basis, row.median_seconds, row.speed_up, row.graphs, row.peak_bytes) == (None,) * 5


@pytest.mark.parametrize(
    ("verdict", "outcome", "detail"),
    [
        ("agrees", "passed", None),
        ("not verified", "passed", None),
        ("disagrees", "disagrees", "graph 1, output 0"),
    ],
)
def test_only_what_disagrees_with_eager_does_not_pass(verdict: str, outcome: str, detail: str | None) -> None:
    _, row = rows(backend("inductor", run(2.0), run(2.1), verdict=verdict))
    assert (row.outcome, row.agreement, row.agreement_detail) == (outcome, verdict, detail)
    assert row.has_passed is (outcome == "passed")


def test_a_program_that_could_not_be_run_fails_under_every_backend() -> None:
    assert rows_without_figures(("eager", "inductor"), "boom", "x.stderr") == (
        Row("eager", "failed", "boom", "x.stderr"),
        Row("inductor", "failed", "boom", "x.stderr"),
    )
    assert log_name(FOLDER, "/elsewhere/eager-1.stderr") == "runs/bert/eager-1.stderr"

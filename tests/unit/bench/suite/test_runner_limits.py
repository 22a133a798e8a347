"""A suite's rows where a figure is just at a limit, has no interval, or a run was interrupted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.bench.comparison import Speed
from dynamo_core.bench.measured import Machine
from dynamo_core.bench.suite.file import (
    Bounds,
    BrokenBound,
    Suite,
    SuiteProgram,
    broken_bounds_of_program,
    broken_bounds_of_suite,
)
from dynamo_core.bench.suite.results import differences, on_other_hardware, undecided
from dynamo_core.bench.suite.rows import Outcome, ProgramResult, Row, pass_rates, summarize
from dynamo_core.bench.suite.runner import Installed, JudgedSuite, SuiteRun, judge_suite
from dynamo_core.launch.program import Program


def row(low: float | None, high: float | None, backend: str = "inductor", **more: Any) -> Row:
    """Twice as fast, between these; None for both is one round."""
    outcome: Outcome = more.pop("outcome", "passed")
    return Row(backend, outcome, speed_up=Speed(more.pop("mean", 2.0), low, high, 3), **more)


def result(*rows: Row, name: str = "a", cpu: str | None = None) -> ProgramResult:
    machine = None if cpu is None else Machine("host", cpu, ("cpu: 8 cores, 8 threads",), "3.11.7", "2.13.0")
    return ProgramResult(name, f"{name}.py", "key", None, rows, 1.0, "2026-01-01T12:00:00+0000", machine)


ONCE = row(None, None)
FAILED = Row("inductor", "failed", "boom")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (row(2.0, 3.0), row(1.0, 2.0), None),
        (row(2.0, 3.0), row(1.0, 1.99), "slower"),
        (row(1.0, 2.0), row(2.0, 3.0), None),
        (row(1.0, 2.0), row(2.01, 3.0), "faster"),
        (row(1.0, None), row(2.0, 3.0), None),
        (row(1.0, 1.5), row(2.0, None), None),
        (row(1.0, 1.5), Row("inductor", "passed"), None),
    ],
)
def test_intervals_that_touch_are_no_change(before: Row, after: Row, change: str | None) -> None:
    assert [each.change for each in differences([result(before)], [result(after)])] == (
        [] if change is None else [change]
    )


def test_why_it_fails_now_is_the_problem_or_else_what_disagrees() -> None:
    wrong = replace(row(1, 2), outcome="disagrees", agreement_detail="graph 1, output 0")
    for after, problem in ((FAILED, "boom"), (wrong, "graph 1, output 0")):
        (found,) = differences([result(row(1, 2))], [result(after)])
        assert (found.change, found.problem, found.before, found.after) == (
            "newly failing",
            problem,
            row(1, 2).speed_up,
            after.speed_up,
        )
    (passes,) = differences([result(FAILED)], [result(row(1, 2, problem="an old one"))])
    assert (passes.change, passes.problem) == ("passes now", None)


def test_what_is_undecided_is_counted_of_rows_that_passed_twice_on_the_same_hardware() -> None:
    eager = row(None, None, "eager")
    assert undecided([result(eager, ONCE)], [result(eager, ONCE)]) == 1, "eager has no speed-up to compare"
    assert undecided([result(ONCE)], [result(row(1, 2))]) == undecided([result(row(1, 2))], [result(ONCE)])
    assert undecided([result(row(1, 2))], [result(row(1, 2))]) == 0
    assert undecided([result(FAILED)], [result(ONCE)]) == undecided([result(ONCE)], [result(FAILED)]) == 0
    elsewhere = [result(ONCE, cpu="EPYC")], [result(ONCE, cpu="Xeon")]
    assert (undecided(*elsewhere), on_other_hardware(*elsewhere)) == (0, 1)


def test_an_interval_that_ends_at_1_is_neither_faster_nor_slower() -> None:
    rows = [row(1.0, 2.0), row(1.01, 2.0), row(0.5, 1.0), row(0.5, 0.99), ONCE]
    [found] = summarize([result(each, name=f"p{number}") for number, each in enumerate(rows)])
    assert (found.faster, found.slower, found.compared) == (1, 1, 5)


def test_those_that_agree_are_counted_among_those_that_passed() -> None:
    rows = [
        row(1, 2, agreement="agrees"),
        row(1, 2),
        replace(FAILED, agreement="agrees"),
        row(1, 2, outcome="disagrees", agreement="disagrees"),
    ]
    [found] = summarize([result(each, name=f"p{number}") for number, each in enumerate(rows)])
    assert (found.verified, found.passed, found.disagreeing, found.failed) == (1, 2, 1, 1)


def beyond(found: Row, **bounds: float) -> list[str]:
    return [
        f"{each.bound} {each.found}" for each in broken_bounds_of_program(result(found), Bounds(**bounds))
    ]


def test_a_speed_up_keeps_its_bound_up_to_the_end_of_its_interval() -> None:
    assert beyond(row(1.0, 3.0), min_speed_up=3.0) == []
    assert beyond(row(1.0, 3.0), min_speed_up=3.01) == ["min-speed-up 2"]
    assert beyond(ONCE, min_speed_up=2.0) == []
    assert beyond(ONCE, min_speed_up=2.01) == ["min-speed-up 2"], "one round has no interval"


def test_what_disagrees_has_no_speed_up_that_keeps_a_bound() -> None:
    assert beyond(row(1, 3, outcome="disagrees"), min_speed_up=0.1) == ["min-speed-up not measured"]


def test_most_is_what_may_still_be() -> None:
    took = row(1, 3, compile_cold_seconds=1234.5, recompiles=0)
    assert beyond(took, max_compile_seconds=1234.5, max_recompiles=0) == []
    assert beyond(took, max_compile_seconds=1000) == ["max-compile-seconds 1,234.5"]
    assert beyond(replace(took, recompiles=10), max_recompiles=9) == ["max-recompiles 10"]


def test_eager_is_held_to_no_bound() -> None:
    assert beyond(row(0.1, 0.2, "eager"), min_speed_up=5, max_recompiles=0) == []
    results = [result(row(1, 2, "eager"))]
    bounds = Bounds(min_geometric_mean=9.0)
    assert [*broken_bounds_of_suite(summarize(results), pass_rates(results), bounds)] == []


def test_a_mean_that_no_hardware_has_is_beyond_its_bound_once() -> None:
    results = [result(FAILED, name=cpu, cpu=cpu) for cpu in ("EPYC", "Xeon")]
    summaries, rates = summarize(results), pass_rates(results)
    assert len(summaries) == 2
    (found,) = broken_bounds_of_suite(summaries, rates, Bounds(min_geometric_mean=1.0))
    assert (found.bound, found.found) == ("min-geometric-mean", "not measured")


def test_what_does_not_keep_a_bound_is_named() -> None:
    one = BrokenBound("bert", "inductor", "max-recompiles", 1, "2")
    assert one.subject == "bert under inductor"
    assert replace(one, program=None).subject == "inductor"
    assert replace(one, program=None, hardware="EPYC").subject == "inductor on EPYC"


def test_nearer_bounds_come_before_those_of_the_suite_also_where_they_are_0() -> None:
    both = Bounds(min_speed_up=1.0, max_recompiles=3, min_pass_rate=1.0).together(Bounds(max_recompiles=0))
    assert both == Bounds(min_speed_up=1.0, max_recompiles=0, min_pass_rate=1.0)
    assert both.of_programs() == Bounds(min_speed_up=1.0, max_recompiles=0)


def of_run(*results: ProgramResult, is_interrupted: bool, older: str | None = "older.json") -> JudgedSuite:
    programs = tuple(SuiteProgram(name, Program(("x.py",), True)) for name in ("a", "b"))
    suite = Suite("mine", Path("s.toml"), Path(), programs, Bounds(min_pass_rate=1.0))
    run = SuiteRun(suite, [*results], Installed("2.13.0"), is_interrupted=is_interrupted)
    return judge_suite(run, older, [result(row(1, 2)), result(row(1, 2), name="b")])


def test_what_an_interrupted_run_has_not_come_to_is_not_gone_and_its_pass_rate_breaks_no_bound() -> None:
    whole = of_run(result(FAILED), is_interrupted=False)
    assert whole.compared is not None
    changes = [(each.program, each.change) for each in whole.compared.differences]
    assert changes == [("a", "newly failing"), ("b", "gone")]
    assert [each.bound for each in whole.beyond] == ["min-pass-rate"]
    cut = of_run(result(FAILED), is_interrupted=True)
    assert cut.compared is not None
    assert [each.program for each in cut.compared.differences] == ["a"]
    assert cut.beyond == ()
    assert of_run(result(FAILED), is_interrupted=False, older=None).compared is None


def test_only_what_newly_fails_and_what_is_slower_fails_a_build() -> None:
    was = result(row(1, 2), replace(FAILED, backend="mine"), row(1, 2, "old"))
    before = [was, result(row(4, 5), name="b")]
    after = [result(FAILED, row(1, 2, "mine"), row(1, 2, "new")), result(row(1, 2), name="b")]
    run = SuiteRun(
        Suite("mine", Path("s.toml"), Path(), tuple(SuiteProgram(n, Program(("x",), True)) for n in "ab")),
        after,
        Installed("2.13.0"),
    )
    found = judge_suite(run, "older.json", before).compared
    assert found is not None
    assert [each.change for each in found.differences] == [
        "newly failing",
        "slower",
        "gone",
        "passes now",
        "new",
    ]
    assert [each.change for each in found.worse] == ["newly failing", "slower"]

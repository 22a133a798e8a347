"""Compile time of several processes and of phases, and functions that were traced, added up."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.analysis.time.compiles import AvoidableSeconds, Phase, avoidable_seconds, phases_of, tracing
from dynamo_core.analysis.time.steps import CallsBefore, noted_calls
from dynamo_core.analysis.time.wall import across_ranks
from dynamo_core.model import (
    CallSample,
    CallTimes,
    CompileId,
    Place,
    Process,
    ProcessInfo,
    Recording,
    TracedFunction,
)
from dynamo_core.shared.names import TRACING_TIME
from support.made import compiled, of_one_process


def one(rank: int | None, job: str | None = None, attempt: list[int] | None = None) -> Process:
    return Process(Path("s"), rank, ProcessInfo(pid=1, job=job, attempt=attempt))


def test_ranks_of_a_job_run_at_once_and_everything_else_one_after_the_other() -> None:
    assert across_ranks([]) == 0.0
    assert across_ranks([(one(None), 1.0), (one(None), 2.0)]) == 3.0
    assert across_ranks([(one(0), 1.0), (one(1), 4.0), (one(2), 2.0)]) == 4.0
    assert across_ranks([(one(0), 1.0), (one(1), 4.0), (one(None), 2.0)]) == 6.0


def test_what_had_the_same_rank_adds_to_it_and_jobs_and_attempts_to_each_other() -> None:
    assert across_ranks([(one(0), 1.0), (one(0), 4.0), (one(1), 4.5)]) == 5.0
    assert across_ranks([(one(0, "a"), 1.0), (one(1, "b"), 4.0)]) == 5.0
    assert across_ranks([(one(0, "a", [0]), 1.0), (one(1, "a", [1]), 4.0)]) == 5.0
    assert across_ranks([(one(0, "a", [0]), 1.0), (one(1, "a", [0]), 4.0)]) == 4.0


def test_each_phase_is_without_the_one_inside_and_a_backward_is_one_of_its_own() -> None:
    first = replace(compiled(0, 10.0), phases={"backend": 6.0, "inductor": 5.0, "inductor_code_gen": 2.0})
    second = replace(compiled(1, 1.0), phases={"dynamo": 99.0})
    backward = replace(compiled(0, 3.0), is_forward=False, phases={"inductor": 3.0})
    assert phases_of([first, second, backward]) == [
        Phase("Dynamo: tracing, guards", 5.0),
        Phase("backend: own code, AOTAutograd, caches", 1.0),
        Phase("backend: Inductor, lowering and scheduling", 3.0),
        Phase("backend: Inductor, code generation and kernels", 2.0),
        Phase("backward graphs", 3.0),
    ]


def test_phases_without_any_time_are_left_out_and_none_has_less_than_nothing() -> None:
    odd = replace(compiled(0, 1.0), phases={"backend": 2.0})
    assert phases_of([odd]) == [Phase("backend: own code, AOTAutograd, caches", 2.0)]
    assert phases_of([replace(odd, seconds=None, phases={})]) == []


def test_avoidable_is_what_recompiles_restarts_and_failures_took() -> None:
    compiles = [
        compiled(0, 1.0),
        compiled(1, 2.0, "why"),
        replace(compiled(2, None, "why"), seconds_before_restart=0.5),  # type: ignore[arg-type]
        replace(compiled(3, 4.0), fail_type="E", seconds_before_restart=0.25),
        replace(compiled(4, 8.0), fail_reason="no kind"),
    ]
    assert avoidable_seconds(of_one_process(compiles=compiles)) == AvoidableSeconds(2.0, 0.75, 4.0)
    assert avoidable_seconds(Recording(Path("r"), None, [], None, [])) == AvoidableSeconds(0, 0, 0)


PLACE = Place("/home/me/train.py", 3)


def test_a_function_of_one_name_at_one_line_is_one_and_the_costliest_is_first() -> None:
    first = CompileId(0, 0)
    traced = [
        TracedFunction(first, 0, "cheap", PLACE, 1, 0.5, 9.0),
        TracedFunction(first, 0, "f", PLACE, 2, 1.0, 3.0),
        TracedFunction(first, 1, "f", PLACE, 3, 2.0, None),
        TracedFunction(first, 0, "f", Place("/home/me/train.py", 4), 1, 0.25, 0.25),
        TracedFunction(first, 0, None, None, 7, 0.125, None, 5),
        TracedFunction(first, 1, None, None, 1, 0.125, None, 2),
    ]
    found = tracing(of_one_process(tracing=traced, record_counts={TRACING_TIME: 1}).processes[0])
    assert found is not None
    f, cheap, other = found.functions
    assert (f.calls, f.attempts, f.exclusive_seconds, f.inclusive_seconds) == (5, 2, 3.0, 3.0)
    assert (cheap.name, other.place.line) == ("cheap", 4)
    assert (found.other_calls, found.other_seconds, found.seconds) == (8, 0.25, 4.0)


def test_tracing_that_was_not_recorded_is_none_and_a_part_has_what_its_whole_recorded() -> None:
    process = of_one_process().processes[0]
    assert tracing(process) is None
    found = tracing(
        replace(
            process, whole=replace(process, health=replace(process.health, record_counts={TRACING_TIME: 1}))
        )
    )
    assert found is not None and (found.functions, found.seconds) == ([], 0.0)


def some(calls: int, *noted: tuple[int, int], early: tuple[tuple[int, int], ...] = ()) -> CallTimes:
    """So many calls, of which those with these numbers were noted at these moments."""
    samples, first = (tuple(CallSample(n, at, 0.0) for n, at in each) for each in (noted, early))
    return CallTimes(calls, 0.0, {}, first, samples, None)


@pytest.mark.parametrize(
    ("moment", "between"),
    [(9, (0, 0)), (10, (1, 1)), (19, (1, 1)), (20, (2, 4)), (49, (2, 4)), (50, (5, 5)), (60, (6, 9))],
)
def test_how_many_calls_began_by_then_lies_between_those_that_were_noted(
    moment: int, between: tuple[int, int]
) -> None:
    assert CallsBefore([some(9, (1, 10), (2, 20), (5, 50), (6, 60))]).at(moment) == between


def test_calls_of_several_graphs_are_added_and_of_one_without_notes_any_number_is_possible() -> None:
    both = CallsBefore([some(2, (1, 10), (2, 20)), some(1, (1, 15)), some(3)])
    assert [both.at(moment) for moment in (5, 10, 15, 20)] == [(0, 3), (1, 4), (2, 5), (3, 6)]
    assert CallsBefore([]).at(5) == (0, 0)


def test_noted_calls_are_each_once_and_in_order() -> None:
    assert [call.number for call in noted_calls(some(9, (5, 50), (1, 10), early=((1, 10), (2, 20))))] == [
        1,
        2,
        5,
    ]
    assert noted_calls(None) == []

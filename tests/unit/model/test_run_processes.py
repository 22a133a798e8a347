"""What a process is known by: whose records it has, which ranks it stands for, which of its parts count."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.model import (
    CompileId,
    Compiling,
    EquivalentRank,
    Frame,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    Recording,
    Run,
    RunSettings,
    Runtime,
)
from support.made import compiled, decided, of_one_process
from support.made_findings import graph, times
from support.trace_bytes import process_of, record

PLAIN = Process(Path("trace.log"))
OURS = Process(Path("s.log"), info=ProcessInfo(pid=1))


def of(process: Process, run: Run | None) -> Recording:
    return Recording(Path("rec"), run, [process], 1, [])


def test_calls_that_were_not_counted_are_a_problem_unless_the_trace_is_torchs_own() -> None:
    uncounted = replace(PLAIN, health=replace(PLAIN.health, calls_problem="no file"))
    assert of(uncounted, None).problems == []
    first, second = of(uncounted, Run(exit_code=0)).problems
    assert first == "process trace.log: its first record (versions, environment) is missing"
    assert second.startswith("process trace.log: no calls of graphs") and second.endswith("(no file)")
    (lost,) = of(
        replace(
            OURS,
            health=replace(OURS.health, calls_problem="no file"),
            runtime=replace(OURS.runtime, end=ProcessEnd()),
        ),
        None,
    ).problems
    assert lost.startswith("process 1: no calls of graphs")


def test_a_process_that_ended_by_itself_has_its_last_record_and_a_forked_or_plain_one_needs_none() -> None:
    assert OURS.lacks_last_record
    assert not replace(OURS, runtime=replace(OURS.runtime, end=ProcessEnd())).lacks_last_record
    assert not replace(OURS, info=ProcessInfo(pid=1, forked=True)).lacks_last_record
    assert not PLAIN.lacks_last_record
    (said,) = of(OURS, None).problems  # without a run, nothing goes on
    assert "(the process was killed, or called os._exit)" in said


def test_a_process_stands_for_its_own_rank_and_for_those_that_are_alike() -> None:
    alike = (EquivalentRank(7, None, None), EquivalentRank(2, None, None))
    assert replace(PLAIN, rank=3, alike=alike).ranks == (2, 3, 7)
    assert replace(PLAIN, rank=0).ranks == (0,)
    assert PLAIN.ranks == ()


def test_an_exception_has_a_line_where_its_file_and_its_number_are_known() -> None:
    def raised_at(**known: object) -> Place | None:
        end = ProcessEnd(raised="E", **known)  # type: ignore[arg-type]
        return replace(OURS, runtime=Runtime(end=end)).raised_at

    assert raised_at(raised_file="a.py", raised_line=3) == Place("a.py", 3)
    assert raised_at(raised_file="a.py") is None
    assert raised_at(raised_line=3) is None
    assert OURS.raised_at is None


def test_the_first_damage_is_told_and_no_more_of_it_than_a_line() -> None:
    process = Process(Path("s.log"))
    process.health.note_damage("x" * 300)
    process.health.note_damage("later")
    assert (process.health.damaged_records, process.health.first_damage) == (2, "x" * 200)


def test_calls_of_inherited_graphs_are_added_up() -> None:
    process = replace(OURS, runtime=replace(OURS.runtime, inherited=[times(2, 0.5), times(3, 1.0)]))
    assert (process.inherited_calls, process.inherited_seconds) == (5, 4.0)
    assert (OURS.inherited_calls, OURS.inherited_seconds) == (0, 0)


def test_the_last_decision_says_whether_we_compile_and_any_whether_we_did() -> None:
    frame = Frame("f", Place("a.py", 1), "compiled", None, True, False, None)
    compiling = Compiling(CompileId(0, 0), "f", None, 1)
    captured, observed = decided("capture"), decided("observe")
    assert replace(
        OURS, interventions=replace(OURS.interventions, captures=[observed, captured])
    ).is_captured_now
    assert not replace(
        OURS, interventions=replace(OURS.interventions, captures=[captured, observed])
    ).is_captured_now
    assert not OURS.is_captured_now
    assert replace(
        OURS, interventions=replace(OURS.interventions, captures=[captured, observed]), frames=[frame]
    ).capture_began
    assert replace(
        OURS, interventions=replace(OURS.interventions, captures=[captured]), compiling=[compiling]
    ).capture_began
    assert not replace(OURS, interventions=replace(OURS.interventions, captures=[captured])).capture_began
    assert not replace(
        OURS, interventions=replace(OURS.interventions, captures=[observed]), frames=[frame]
    ).capture_began


def test_graphs_and_frames_that_torch_does_not_count_are_left_out() -> None:
    graphs = [
        graph(1, CompileId(0, 0)),
        graph(2, CompileId(0, 0), is_compiled=False),
        graph(3, CompileId(0, 0), is_specialization=True),
    ]
    frames = [Frame("f", Place("a.py", 1), "compiled", None, True, whole, None) for whole in (True, False)]
    process = replace(OURS, graphs=graphs, frames=frames, compiles=[compiled(0), compiled(1, reason="")])
    assert [each.number for each in process.compiled_graphs] == [1]
    assert process.counted_frames == frames[1:]
    assert process.recompiles == process.compiles[1:]


@pytest.mark.parametrize(
    ("run", "is_partial"),
    [
        (None, False),
        (Run(exit_code=0, ended_ns=2), False),
        (Run(launcher_pid=1), True),
        (Run(ended_ns=2, signal=9, launcher_pid=1), True),
    ],
)
def test_a_run_that_goes_on_or_was_ended_by_a_signal_is_partial(run: Run | None, is_partial: bool) -> None:
    recording = of(replace(OURS, runtime=replace(OURS.runtime, end=ProcessEnd())), run)
    assert recording.is_partial is is_partial
    assert replace(recording, not_arrived=("a",)).is_partial


@pytest.mark.parametrize(
    "fields",
    [{"damaged_records": 1}, {"lost_records": 1}, {"end": None}],
)
def test_a_process_of_which_records_are_missing_makes_a_run_partial(fields: dict[str, object]) -> None:
    process = of_one_process(**{"end": ProcessEnd(), **fields}).processes[0]
    recording = of(process, Run(exit_code=0, ended_ns=2))
    assert recording.is_partial
    recording.processes.append(
        replace(OURS, runtime=replace(OURS.runtime, end=ProcessEnd()))
    )  # of which none is missing
    assert recording.is_partial
    assert not of(process, None).is_partial


def test_settings_are_the_runs_and_a_part_knows_what_it_is_of() -> None:
    settings = RunSettings(verify="error")
    whole = of(OURS, Run(settings=settings))
    assert (whole.settings, of(OURS, None).settings) == (settings, RunSettings())
    assert replace(whole, whole=whole, processes=[]).entire is whole is whole.entire
    assert replace(OURS, whole=PLAIN).entire is PLAIN and OURS.entire is OURS


def test_a_compile_of_compiled_autograd_of_no_frame_has_its_number_and_a_record_of_none_has_no_id() -> None:
    graphs = process_of(
        record({"dynamo_output_graph": {}, "compiled_autograd_id": 2}),
        record({"dynamo_output_graph": {}, "frame_id": 1}),
        record({"dynamo_output_graph": {}}),
    ).graphs
    assert [each.compile_id for each in graphs] == [CompileId(None, None, 2), None, None]
    assert str(graphs[0].compile_id) == "!2"

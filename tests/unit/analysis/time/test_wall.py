"""The wall time adds up; what is in two parts at once is counted in one."""

from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.time.wall import (
    COMPILING,
    EXIT,
    GRAPHS,
    GUARDS,
    IMPORTING_COMPILER,
    REST,
    merged,
    wall_time,
)
from dynamo_core.case import Case
from dynamo_core.model import (
    CallSample,
    CallTimes,
    Frame,
    Graph,
    Import,
    Phase,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    Recording,
    Run,
    Runtime,
    Timeline,
)
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.profile.document import InheritedCalls, graphs_run, inherited_calls
from dynamo_reporters.profile.run_time import run_time_blocks
from support.made import with_fields

S = 1_000_000_000
PLACE = Place("/home/user/train.py", 7)


def times(calls: int, seconds: float, guard_seconds: float | None = None) -> CallTimes:
    return CallTimes(calls, seconds, {(0, 10): calls}, (), (), guard_seconds)


def frame(ended_s: float, seconds: float) -> Frame:
    ended_ns = int(ended_s * S)
    return Frame("f", PLACE, "compiled", None, True, False, None, ended_ns=ended_ns, seconds=seconds)


def phase(begin_s: float, end_s: float) -> Phase:
    return Phase("dynamo", int(begin_s * S), int(end_s * S), None)


def graph(number: int, forward: CallTimes, backward: CallTimes | None = None) -> Graph:
    return Graph(number, None, 0, None, None, 1, is_compiled=True, times=forward, backward=backward)


def process(**changes: Any) -> Process:
    """A life of 100 s: torch is imported from 2 to 5, ready at 6; the last line ends at 98."""
    made = Process(
        Path("stream.log"),
        info=ProcessInfo(pid=2, ppid=1, began_ns=0),
        runtime=Runtime(
            end=ProcessEnd(ended_ns=98 * S),
            timeline=Timeline(armed_ns=1 * S, torch_began_ns=2 * S, torch_ended_ns=5 * S, ready_ns=6 * S),
            overlap_seconds=0.0,
            compiling_in_calls_seconds=0.0,
        ),
    )
    made.info = ProcessInfo(**{**vars(made.info), "began_ns": 1})  # 0 would read as "not recorded"
    return with_fields(made, changes)


def parts_of(recorded: Process, ended_s: float | None = 100.0) -> dict[str, float | None]:
    run = None if ended_s is None else Run(launcher_pid=1, ended_ns=int(ended_s * S))
    wall = wall_time(recorded, Recording(Path("r"), run, [recorded], 1, []))
    assert wall is not None
    assert sum(part.seconds or 0.0 for part in wall.parts) == pytest.approx(wall.seconds)
    return {part.name: part.seconds for part in wall.parts}


def test_what_is_not_measured_is_the_remainder() -> None:
    parts = parts_of(process())
    assert parts[EXIT] == pytest.approx(2)
    assert parts[REST] == pytest.approx(100 - 6 - 2)


def test_a_life_without_length_has_no_parts() -> None:
    ended = process(end=ProcessEnd(ended_ns=1))  # its begin
    assert wall_time(ended, Recording(Path("r"), None, [ended], 1, [])) is None


def test_a_frame_and_its_phases_are_one_time() -> None:
    parts = parts_of(process(frames=[frame(20, 10)], phases=[phase(11, 19), phase(30, 35)]))
    assert parts[COMPILING] == pytest.approx(10 + 5)


def test_an_import_within_a_compile_is_in_the_compile() -> None:
    imports = [
        Import(module="torch._dynamo", began_ns=7 * S, ended_ns=8 * S),
        Import(module="torch._inductor.compile_fx", began_ns=12 * S, ended_ns=14 * S),
    ]
    parts = parts_of(process(frames=[frame(20, 10)], imports=imports))
    assert parts[IMPORTING_COMPILER] == pytest.approx(1)
    assert parts[COMPILING] == pytest.approx(10)


def test_calls_forward_backward_and_inherited_less_what_counts_twice() -> None:
    parts = parts_of(
        process(
            graphs=[graph(1, times(10, 4.0), times(10, 6.0))],
            inherited=[times(1, 0.5)],
            overlap_seconds=2.0,
            compiling_in_calls_seconds=1.0,
        )
    )
    assert parts[GRAPHS] == pytest.approx(4 + 6 + 0.5 - 2 - 1)


def test_guards_are_calls_times_what_one_evaluation_takes() -> None:
    graphs = [graph(1, times(1000, 1.0, 0.002)), graph(2, times(500, 1.0))]
    assert parts_of(process(graphs=graphs))[GUARDS] == pytest.approx(2.0)
    assert parts_of(process(graphs=graphs[1:]))[GUARDS] is None


def test_guards_of_inherited_graphs_are_evaluated_too() -> None:
    backward, unknown = times(10, 0.1), times(10, 0.1)
    parts = parts_of(process(graphs=[graph(1, times(1000, 1.0, 0.002))], inherited=[times(500, 0.5, 0.004)]))
    assert parts[GUARDS] == pytest.approx(1000 * 0.002 + 500 * 0.004)
    assert parts_of(process(inherited=[times(500, 0.5, 0.004), backward]))[GUARDS] == pytest.approx(2.0)
    assert parts_of(process(inherited=[unknown]))[GUARDS] is None


def test_counters_that_were_not_recorded_are_not_zero() -> None:
    assert parts_of(process(overlap_seconds=None))[GRAPHS] is None


def test_a_forked_child_has_no_start_of_its_own() -> None:
    child = process(timeline=None)
    child.info = ProcessInfo(**{**vars(child.info), "forked": True})
    assert set(parts_of(child)) == {GRAPHS, REST, EXIT}


def test_what_a_process_did_not_do_is_no_part_of_its_time() -> None:
    assert COMPILING not in parts_of(process())
    assert COMPILING in parts_of(process(graphs=[graph(1, times(1, 1.0))]))
    assert parts_of(process(failed_probes={"frames": "no such function"}))[COMPILING] is None


def test_the_rows_of_the_graphs_add_up_to_the_time_in_them() -> None:
    parent = process(graphs=[graph(1, times(10, 4.0), times(10, 6.0))], overlap_seconds=2.0)
    child = process(inherited=[times(3, 0.5), times(2, 0.25)], overlap_seconds=0.125)
    child.info = ProcessInfo(**{**vars(child.info), "pid": 3, "ppid": 2, "forked": True})
    recorded = Recording(Path("r"), Run(launcher_pid=1, ended_ns=100 * S), [parent, child], 2, [])
    for each, overlap in ((parent, 2.0), (child, 0.125)):
        rows, inherited = graphs_run(each), inherited_calls(each)
        assert inherited is not None
        seconds = inherited.seconds + sum(
            calls.seconds for row in rows for calls in (row.forward, row.backward) if calls is not None
        )
        wall = wall_time(each, recorded)
        part = wall.part(GRAPHS) if wall is not None else None
        assert part is not None
        assert seconds - overlap == pytest.approx(part.seconds)
    page = plain_text(run_time_blocks(Case(recorded), False))
    assert "10.75 s in 15 calls" in page
    row = page[page.index("graphs of its parent") :]
    assert [text for text in ("inherited", "750 ms", "7.0%") if text not in row] == []
    assert inherited_calls(process(overlap_seconds=None)) is None
    assert inherited_calls(process()) == InheritedCalls(calls=0, seconds=0.0)


def test_a_process_that_only_inherited_graphs_has_a_table_of_them() -> None:
    child = process(inherited=[times(3, 0.5)])
    page = plain_text(run_time_blocks(Case(Recording(Path("r"), None, [child], 1, [])), False))
    assert "500 ms in 3 calls" in page
    assert "100.0%" in page


def test_a_process_that_was_killed_lasts_until_the_last_known_moment() -> None:
    sample = CallSample(1, 49 * S, 1.0)
    killed = process(end=None, inherited=[CallTimes(1, 1.0, {(0, 1): 1}, (sample,), (), None)])
    wall = wall_time(killed, Recording(Path("r"), Run(launcher_pid=5, ended_ns=100 * S), [killed], 1, []))
    assert wall is not None
    assert (wall.seconds, wall.saw_end) == (pytest.approx(50), False)  # type: ignore[comparison-overlap]


def test_the_run_knows_when_its_main_process_was_killed() -> None:
    assert parts_of(process(end=None))[REST] == pytest.approx(94)


def test_a_plain_trace_has_no_begin() -> None:
    plain = Process(Path("stream.log"))
    assert wall_time(plain, Recording(Path("r"), None, [plain], None, [])) is None


@pytest.mark.parametrize("began", [None, 10**30, -(10**400)])
def test_strange_moments_are_no_begin(began: Any) -> None:
    strange = process()
    strange.info = ProcessInfo(began_ns=began)
    assert wall_time(strange, Recording(Path("r"), None, [strange], None, [])) is None


def test_merged_intervals_do_not_overlap() -> None:
    assert merged([(5, 9), (1, 3), (2, 4), (9, 10), (7, 7), (20, 15)]) == [(1, 4), (5, 10)]

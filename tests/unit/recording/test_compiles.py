"""What our records of frames and torch's metrics make of each compile, and what they leave open."""

from typing import Any

import pytest

from dynamo_core.model import CompileId, Place, Process, TracedFunction
from dynamo_core.shared import names
from support.trace_bytes import FRAME, artifact, process_of, record

FIRST = CompileId(0, 0)
AGAIN = {**FRAME, "frame_compile_id": 1}
TRIED = {
    "name": "f",
    "file": "/x/train.py",
    "line": 7,
    "outcome": "compiled",
    "reason": None,
    "ok": True,
    "whole_graph": False,
}
STARTED = artifact(names.PROCESS_START, {"argv": ["x.py"], "torch": "2.13.0", "pid": 2350})


def tried(ids: Any = FRAME, **more: Any) -> bytes:
    return artifact(names.FRAME, {**TRIED, **more}, ids)


def metrics(kind: str = "compilation_metrics", ids: Any = FRAME, **fields: Any) -> bytes:
    return record(
        {kind: {"co_name": "f", "co_filename": "/x/train.py", "co_firstlineno": 7, **fields}, **ids}
    )


def decided(decision: str, *, raises: bool = False) -> bytes:
    content = {
        "decision": decision,
        "because": None,
        "policy": "auto",
        "backend": "inductor",
        "fallback_random": True,
        "raises": raises,
    }
    return artifact(names.CAPTURE_DECISION, content)


def ours(*records: bytes, contents: Any = ()) -> Process:
    process = process_of(STARTED, *records, contents=contents)
    assert (process.health.damaged_records, process.is_ours) == (0, True)
    return process


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({"duration_us": 1_500_000, "entire_frame_compile_time_s": 9.0}, 1.5),
        ({"entire_frame_compile_time_s": 2.5, "dynamo_cumulative_compile_time_us": 9}, 2.5),
        ({"dynamo_cumulative_compile_time_us": 500_000}, 0.5),
        ({"duration_us": 0}, 0.0),
        ({"duration_us": None}, None),
        ({}, None),
    ],
)
def test_how_long_a_compile_took_is_the_first_that_torch_tells(fields: Any, seconds: float | None) -> None:
    assert ours(metrics(**fields)).compiles[0].seconds == seconds


def test_phases_are_in_seconds_and_those_that_are_null_are_left_out() -> None:
    fields: dict[str, Any] = {
        "dynamo_cumulative_compile_time_us": 2_000_000,
        "aot_autograd_cumulative_compile_time_us": 1_000_000,
        "inductor_cumulative_compile_time_us": 0,
        "backward_cumulative_compile_time_us": None,
    }
    assert ours(metrics(**fields)).compiles[0].phases == {"dynamo": 2.0, "backend": 1.0, "inductor": 0.0}


@pytest.mark.parametrize(
    ("kind", "told", "is_forward"),
    [
        ("compilation_metrics", True, True),
        ("compilation_metrics", None, True),
        ("compilation_metrics", False, False),
        ("bwd_compilation_metrics", None, False),
        ("bwd_compilation_metrics", True, False),
    ],
)
def test_metrics_are_of_a_forward_unless_they_say_otherwise(
    kind: str, told: bool | None, is_forward: bool
) -> None:
    assert ours(metrics(kind, is_forward=told)).compiles[0].is_forward is is_forward


@pytest.mark.parametrize("missing", ["co_filename", "co_firstlineno"])
def test_a_compile_without_a_file_or_a_line_has_no_place_until_its_frame_is_told(missing: str) -> None:
    absent: dict[str, Any] = {missing: None, "co_name": None}
    without = metrics(**absent)
    assert ours(without).compiles[0].place is None
    named = ours(without, tried(name="g", line=9)).compiles[0]
    assert (named.name, named.place) == ("g", Place("/x/train.py", 9))


def test_a_compile_with_a_place_keeps_it() -> None:
    kept = ours(metrics(), tried(name="g", line=9)).compiles[0]
    assert (kept.name, kept.place) == ("f", Place("/x/train.py", 7))


def test_whether_torch_tells_of_recompiles_at_all_is_known_by_the_field() -> None:
    said, silent = ours(metrics(recompile_reason=None), metrics(ids=AGAIN)).compiles
    assert (said.tells_recompile, silent.tells_recompile) == (True, False)
    assert said.recompile_reason is silent.recompile_reason is None


def test_a_frame_has_the_reason_of_its_failed_compile_before_its_own() -> None:
    failed = metrics(fail_type="Unsupported", fail_reason="no way")
    told = tried(outcome="failed", reason="own")
    assert ours(failed, told).frames[0].reason == "Unsupported: no way"
    assert ours(told).frames[0].reason == "own"
    other = metrics(ids=AGAIN, fail_type="Unsupported", fail_reason="no way")
    assert ours(other, told).frames[0].reason == "own"


def test_a_method_names_the_graphs_breaks_and_compile_of_its_frame_and_of_no_other() -> None:
    broke = {"reason": "why", "user_stack": [{"file": "/x/train.py", "line": 8, "name": "f", "text": ""}]}
    graph: dict[str, Any] = {"graph": 1, "name": None, "backend": "eager", "ops": 1, "nodes": []}
    process = ours(
        artifact(names.FX_GRAPH, graph),
        artifact(names.GRAPH_BREAK, broke),
        metrics(),
        tried(),
        artifact(names.FX_GRAPH, {**graph, "graph": 2}, AGAIN),
        artifact(names.FX_GRAPH, {**graph, "graph": 3}, AGAIN),
        artifact(names.GRAPH_BREAK, broke, AGAIN),
        artifact(names.GRAPH_BREAK, broke, AGAIN),
        metrics(ids=AGAIN),
        tried(AGAIN, method="Net.forward"),
        metrics("bwd_compilation_metrics", AGAIN),
    )
    name = "Net.forward"
    assert [graph.method for graph in process.graphs] == [None, name, name]
    assert [each.method for each in process.breaks] == [None, name, name]
    assert [each.method for each in process.compiles] == [None, name, name]  # the backward's too


@pytest.mark.parametrize(
    ("records", "more", "outcome"),
    [
        ((decided("capture"),), {}, "failed"),
        ((decided("capture", raises=True),), {}, "raised"),
        ((decided("capture"),), {"whole_graph": True}, "raised"),
        ((decided("capture"),), {"is_exit": True}, "raised"),
        ((decided("capture"), decided("observe")), {}, "raised"),
        ((decided("observe"),), {}, "raised"),
        ((), {}, "raised"),
    ],
)
def test_an_error_in_the_compiler_reaches_the_program_unless_we_capture(
    records: tuple[bytes, ...], more: dict[str, Any], outcome: str
) -> None:
    process = ours(*records, tried(outcome="raised", **more))
    assert process.frames[0].outcome == outcome


def test_a_frame_that_was_compiled_is_so_while_we_capture_too() -> None:
    assert ours(decided("capture"), tried()).frames[0].outcome == "compiled"


def test_time_in_a_frame_is_in_seconds_and_open_where_it_was_not_recorded() -> None:
    timed, untimed, at_once = ours(tried(ns=1_500_000_000, ended_ns=5), tried(), tried(ns=0)).frames
    assert (timed.seconds, timed.ended_ns) == (1.5, 5)
    assert (untimed.seconds, untimed.ended_ns, at_once.seconds) == (None, None, 0.0)


WHY = "why\n  Explanation: so.\n  Hint: none.\n"
STOP = {"reason": WHY, "user_stack": [{"file": "/x/train.py", "line": 8, "name": "f", "text": None}]}


def test_what_raised_is_a_break_at_a_line_and_none_without_one() -> None:
    broke, stopped, nowhere = ours(
        tried(outcome="failed", broke=STOP),
        tried(outcome="failed", stopped=STOP),
        tried(outcome="failed", broke={**STOP, "user_stack": []}),
    ).frames
    assert broke.broke is not None and broke.stopped is None
    assert (broke.broke.place, broke.broke.reason) == (Place("/x/train.py", 8), WHY)
    assert stopped.stopped is not None and stopped.broke is None
    assert nowhere.broke is None and nowhere.explanation is None
    assert broke.explanation is not None
    assert broke.explanation == broke.broke.explanation == stopped.explanation


CALLED_FROM = {"file": "/x/train.py", "line": 30, "name": "main", "text": "step()"}


def test_the_line_that_called_a_frame_is_added_where_torchs_stack_lacks_it() -> None:
    stack = [{"line": 40, "name": "<module>", "filename": 0}, {"line": 7, "name": "f", "filename": 0}]
    began = record({"dynamo_start": {"stack": stack}, **FRAME})
    broke = artifact(names.GRAPH_BREAK, STOP)
    process = ours(FILE, began, broke, tried(called_from=CALLED_FROM))
    (graph_break,) = process.breaks
    assert [caller.place.line for caller in graph_break.callers] == [40, 30]
    again = ours(FILE, began, broke, tried(called_from={**CALLED_FROM, "line": 40}))
    assert [caller.place.line for caller in again.breaks[0].callers] == [40]


def test_a_frame_that_was_compiled_has_no_explanation() -> None:
    assert ours(tried(stopped=STOP)).frames[0].explanation is None


BEGUN = {"began_ns": 100}


def start(ids: Any = FRAME) -> bytes:
    stack = [{"line": 7, "name": "f", "filename": 0}]
    return record({"dynamo_start": {"stack": stack}, **ids})


FILE = record({"str": ["/x/train.py", 0]})


def test_a_compile_is_in_progress_until_its_frame_or_its_backwards_metrics_come() -> None:
    began = artifact(names.COMPILE_BEGUN, BEGUN)
    (compiling,) = ours(FILE, start(), began, began).compiling
    assert (compiling.name, compiling.place, compiling.began_ns) == ("f", Place("/x/train.py", 7), 100)
    assert not ours(FILE, start(), began, tried()).compiling
    backward = artifact(names.COMPILE_BEGUN, {**BEGUN, "backward": True})
    assert [each.is_backward for each in ours(backward, metrics()).compiling] == [True]
    assert not ours(backward, metrics("bwd_compilation_metrics")).compiling


def test_the_backend_has_a_graph_from_when_it_was_handed_over_until_it_returns() -> None:
    graph: dict[str, Any] = {
        "graph": 4,
        "name": None,
        "backend": "eager",
        "ops": 3,
        "nodes": [],
        "handed_over_ns": 150,
    }
    handed = (artifact(names.COMPILE_BEGUN, BEGUN), artifact(names.FX_GRAPH, graph))
    (at_it,) = ours(*handed).compiling
    assert (at_it.graph, at_it.ops, at_it.backend, at_it.backend_ns) == (4, 3, "eager", 150)
    back = {"graph": 4, "name": "g", "backend_ns": 2_000_000_000, "calls_index": 0}
    process = ours(*handed, artifact(names.GRAPH_COMPILED, back))
    (after,) = process.compiling
    assert (after.graph, after.ops, after.backend, after.backend_ns) == (None, None, None, None)
    assert (process.graphs[0].backend_seconds, process.graphs[0].name) == (2.0, "g")


@pytest.mark.parametrize(("reason", "by"), [("KeyboardInterrupt: ", "KeyboardInterrupt"), (None, "an exit")])
def test_an_exit_interrupts_a_compile_and_an_error_does_not(reason: str | None, by: str) -> None:
    began = artifact(names.COMPILE_BEGUN, BEGUN)
    gone = ours(began, tried(outcome="raised", is_exit=True, reason=reason, ended_ns=300))
    assert [(each.interrupted_ns, each.interrupted_by) for each in gone.interrupted] == [(300, by)]
    assert not gone.compiling
    assert not ours(began, tried(outcome="raised", ended_ns=300)).interrupted


def test_the_test_that_a_compile_is_of_is_the_first_that_was_told_without_its_phase() -> None:
    told = ["t.py::a (call)", "t.py::b (setup)"]
    process = ours(*(artifact(names.COMPILE_BEGUN, {**BEGUN, "test": test}) for test in told))
    assert process.tests == {FIRST: "t.py::a"}
    setup = ours(artifact(names.COMPILE_BEGUN, {**BEGUN, "test": told[1]}))
    assert setup.tests == {FIRST: told[1]}
    assert ours(artifact(names.COMPILE_BEGUN, BEGUN)).tests == {}


def test_functions_that_were_traced_are_in_seconds_and_the_others_one_entry_if_there_are_any() -> None:
    named = {"name": "g", "file": "/x/a.py", "line": 3, "calls": 2, "inclusive_ns": 9 * 10**9}
    function = {**named, "exclusive_ns": 4 * 10**9}

    def traced(others: int) -> list[TracedFunction]:
        rest = {"functions": others, "calls": 6, "exclusive_ns": 10**9}
        told = artifact(
            names.TRACING_TIME, {"functions": [function], "others": rest}, {**FRAME, "attempt": 1}
        )
        return ours(told, contents={names.TRACING_TIME}).tracing

    (alone,) = traced(0)
    assert alone == TracedFunction(FIRST, 1, "g", Place("/x/a.py", 3), 2, 4.0, 9.0)
    assert traced(5) == [alone, TracedFunction(FIRST, 1, None, None, 6, 1.0, None, 5)]

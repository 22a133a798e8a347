"""The verdict of --fullgraph: what counts as a break, and how the run ends."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.analysis.verdict import audit, audited_exit_code
from dynamo_core.model import (
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Place,
    Process,
    ProcessInfo,
    Recording,
    Run,
    StackFrame,
)
from dynamo_core.shared.settings import FULLGRAPH_FIRST, FULLGRAPH_KEEP_GOING
from dynamo_reporters.breaks import audit_sentence
from support.made import with_fields

ID = CompileId(0, 0)
PLACE = Place("/x/train.py", 7)
GRAPH = Graph(number=1, compile_id=ID, attempt=0, name=None, backend="eager", ops=1, is_compiled=True)
COMPILED = Frame("f", PLACE, "compiled", None, True, False, ID)
BREAK = GraphBreak("data-dependent", (StackFrame(PLACE, "f", ""),), ID)
OURS = ProcessInfo(pid=1)


def recording(**parts: object) -> Recording:
    process = Process(Path("trace.log"), info=OURS, graphs=[GRAPH], frames=[COMPILED])
    return Recording(Path("r"), Run(), [with_fields(replace(process), parts)], 1, [])


def test_a_run_without_breaks() -> None:
    found = audit(recording())
    assert found.is_clean
    assert audit_sentence(found) == "no graph breaks in 1 frame, 1 graph"


def test_a_break_is_counted_each_time_and_once_by_kind() -> None:
    found = audit(recording(breaks=[BREAK, BREAK]))
    assert not found.is_clean
    assert audit_sentence(found) == "2 graph breaks (1 distinct) in 1 frame, 1 graph"


def test_a_break_that_was_an_error_is_a_break() -> None:
    raised = replace(COMPILED, outcome="raised", broke=BREAK)
    found = audit(recording(frames=[raised], graphs=[]))
    assert (found.breaks, found.fallbacks) == (1, 0)
    assert audit_sentence(found) == "1 graph break in 1 frame, 0 graphs"


def test_a_frame_that_fell_back_is_no_whole_graph_and_a_skipped_one_is_nothing() -> None:
    frames = [COMPILED, replace(COMPILED, outcome="failed"), replace(COMPILED, outcome="skipped")]
    found = audit(recording(frames=frames))
    assert not found.is_clean
    assert audit_sentence(found) == "1 frame that could not be compiled in 2 frames, 1 graph"


def test_an_audit_that_saw_nothing_is_no_success() -> None:
    nothing = audit(recording(graphs=[], frames=[]))
    assert not nothing.is_clean
    assert audit_sentence(nothing) == "nothing was compiled, so nothing can be said of graph breaks"
    blind = audit(recording(failed_probes={"graph breaks": "AttributeError"}))
    assert not blind.is_clean
    assert not audit(Recording(Path("r"), Run(), [], 1, ["the engine could not start"])).is_clean


@pytest.mark.parametrize(
    ("kind", "breaks", "program", "ends"),
    [
        (FULLGRAPH_FIRST, True, 1, 118),
        (FULLGRAPH_FIRST, True, 0, 118),
        (FULLGRAPH_FIRST, False, 3, 3),
        (FULLGRAPH_FIRST, True, None, None),
        (FULLGRAPH_KEEP_GOING, True, 0, 118),
        (FULLGRAPH_KEEP_GOING, True, 3, 3),
        (FULLGRAPH_KEEP_GOING, False, 0, 0),
    ],
)
def test_how_the_run_ends(kind: str, breaks: bool, program: int | None, ends: int | None) -> None:
    found = audit(recording(breaks=[BREAK] if breaks else []))
    assert audited_exit_code(found, kind, program, 118) == ends


def test_nothing_compiled_fails_the_audit_but_the_programs_own_failure_comes_first() -> None:
    nothing = audit(recording(graphs=[], frames=[]))
    assert audited_exit_code(nothing, FULLGRAPH_FIRST, 0, 118) == 118
    assert audited_exit_code(nothing, FULLGRAPH_FIRST, 5, 118) == 5

"""Frames that run eager: at the line that caused it, in one finding with the break that it was."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.analysis.break_effects import what_stopped
from dynamo_core.findings import Finding, find
from dynamo_core.model import (
    BreakExplanation,
    Compile,
    CompileId,
    Frame,
    GraphBreak,
    GuardFailure,
    Place,
    Process,
    ProcessInfo,
    RecompileReasons,
    Recording,
    Run,
    StackFrame,
)
from support.made import with_fields
from support.made_findings import recompile

FILE = "/home/me/train.py"
LINE = StackFrame(Place(FILE, 14), "helper", "total = x.sum().item()")
CALL = StackFrame(Place(FILE, 20), "forward", "return helper(x)")
ABOVE = StackFrame(Place(FILE, 40), "<module>", "model(x)")
WORDS = BreakExplanation(LINE.place, "Unsupported Tensor.item() call", "No `Tensor.item()`.", (), "GB0124")
FORWARD = Frame(
    "forward", Place(FILE, 18), "failed", "Unsupported: Unsupported Tensor.item() call", False, False, None
)


def found_in(**fields: object) -> list[Finding]:
    process = Process(Path("stream.log"), info=ProcessInfo(pid=1), torch_version="2.13.0")
    process = with_fields(process, fields)
    return find(Recording(Path("rec"), Run(exit_code=0), [process], 1, []))


def test_the_line_is_that_of_the_error_that_torch_kept_to_itself() -> None:
    stopped = GraphBreak("Unsupported Tensor.item() call", (CALL, LINE), None)
    (found,) = found_in(frames=[replace(FORWARD, stopped=stopped)])
    assert (found.kind, found.place, found.function) == ("fell back to eager", LINE.place, "helper")
    assert "CAPTURE_SCALAR_OUTPUTS" in found.remedies[0].text


def test_the_line_is_in_torchs_words_where_nothing_else_has_it() -> None:
    words = replace(WORDS, stack=(ABOVE, CALL, LINE))
    assert what_stopped(replace(FORWARD, explanation=words)).stack == (CALL, LINE)
    assert what_stopped(replace(FORWARD, explanation=WORDS)).place == LINE.place
    assert what_stopped(FORWARD).place == FORWARD.place
    assert what_stopped(replace(FORWARD, reason=None)).kind == "no reason recorded"


def test_a_frame_of_torchs_is_at_the_users_line_that_called_it() -> None:
    inside = Place("/venv/lib/python3.11/site-packages/torch/optim/adam.py", 215)
    frame = replace(FORWARD, name="step", place=inside, called_from=ABOVE)
    (found,) = found_in(frames=[frame])
    assert (found.place, found.source) == (ABOVE.place, ABOVE.text)
    assert found.via is not None and found.via.place == inside


def in_plain_trace(*breaks: GraphBreak) -> Finding:
    failed = replace(
        recompile(seconds=0.1),
        compile_id=CompileId(0, 0),
        recompile_reason=None,
        fail_type="Unsupported",
        fail_reason="Unsupported Tensor.item() call",
        failed_at=LINE.place,
    )
    process = Process(Path("s.log"), compiles=[failed], breaks=[*breaks])
    (found,) = find(Recording(Path("rec"), None, [process], 1, []))
    return found


def test_in_a_plain_trace_a_compile_that_failed_is_at_the_line_that_torch_names() -> None:
    assert in_plain_trace().place == LINE.place
    assert "because of /home/me/train.py:14" in in_plain_trace().title


def test_in_a_plain_trace_a_compile_that_failed_and_its_break_are_one_finding() -> None:
    found = in_plain_trace(GraphBreak("reason", (CALL, LINE), CompileId(0, 0), WORDS))
    assert (found.kind, found.place, found.source) == ("fell back to eager", LINE.place, LINE.text)
    assert "CAPTURE_SCALAR_OUTPUTS" in found.remedies[0].text


def test_a_frame_that_fell_back_and_the_break_in_another_are_one_finding() -> None:
    stopped = GraphBreak("reason", (CALL, LINE), CompileId(0, 0), WORDS)
    frame = replace(FORWARD, stopped=stopped, compile_id=CompileId(0, 0))
    alone = GraphBreak("reason", (LINE,), CompileId(1, 0), WORDS)
    (found,) = found_in(frames=[frame], breaks=[alone])
    assert found.kind == "fell back to eager"
    assert (
        found.title == f"forward runs eager: graph break at {FILE}:14 Unsupported Tensor.item() call (GB0124)"
    )


def test_a_generator_is_given_up_for_being_one() -> None:
    reason = "Unsupported: Attempt to trace generator\n  Explanation: Generators cannot be compiled."
    (found,) = found_in(frames=[replace(FORWARD, reason=reason)])
    assert found.cause.startswith("`forward` is a generator")


def test_recompiles_for_a_value_that_was_made_at_a_break_are_of_the_break() -> None:
    met = GraphBreak("reason", (LINE,), CompileId(0, 0), WORDS)
    resumed = "torch_dynamo_resume_in_helper_at_14"
    again = Compile(
        CompileId(1, 1), resumed, Place(FILE, 14), 2.0, True, 1, 1, "why", None, None, {}, None, None
    )

    def first(source: str) -> Finding:
        failure = GuardFailure(
            CompileId(1, 0), f"{source} == 1", "value", source, None, "1", None, None, None, None
        )
        reasons = RecompileReasons(CompileId(1, 1), (failure,))
        return found_in(breaks=[met], compiles=[again], recompile_reasons=[reasons])[0]

    assert first("___stack0").kind == "graph break"
    assert first("total").cost.lost.seconds == 2.0
    assert first("x").kind == "recompile"

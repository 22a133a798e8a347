"""Exports in a trace that torch wrote: which records are of one, and what each ran into."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.exports.modules import ExportInTrace, exports_in_trace, exports_of
from dynamo_core.model import Exporting, Place, Process, Recording
from dynamo_core.shared.errors import NotARecording
from support.trace_bytes import FRAME, NO_FRAME, process_of, record

FILES = [
    record({"str": ["/home/me/model.py", 0]}),
    record({"str": ["/venv/lib/python3.11/site-packages/torch/export/_trace.py", 1]}),
]
USER = [{"line": 3, "name": "main", "filename": 0}, {"line": 7, "name": "forward", "filename": 0}]
EXPORTER = {"line": 9, "name": "_export", "filename": 1}


def begun() -> bytes:
    return record({"export": {}})


def ended(text: str = "class P") -> bytes:
    return record({"exported_program": {}}, text)


def missing(op: str = "ns::op", stack: Any = USER, ids: Mapping[str, int] = NO_FRAME) -> bytes:
    return record({"missing_fake_kernel": {"op": op, "stack": stack}, **ids})


def guarded(expression: str) -> bytes:
    content = {"expr": expression, "user_stack": USER[1:], "stack": [EXPORTER]}
    return record({"guard_on_data_dependent_error": content})


def exports(*records: bytes) -> tuple[ExportInTrace, ...]:
    process = process_of(*FILES, *records)
    assert process.health.damaged_records == 0
    return exports_in_trace(Recording(Path("rec"), None, [process], None, []))


def test_an_export_has_its_program_or_what_it_ran_into() -> None:
    (well,) = exports(begun(), ended())
    assert (well.program, well.obstacles) == ("class P", ())
    (stopped,) = exports(begun(), guarded("u0 > 3"))
    (met,) = stopped.obstacles
    assert (stopped.program, met.place, met.function) == (None, Place("/home/me/model.py", 7), "forward")
    assert met.words.endswith("Could not guard on data-dependent expression u0 > 3")
    assert met.met_by == ()


def test_each_export_has_what_came_before_its_program_and_a_draft_begins_without_a_record() -> None:
    first, second = exports(begun(), missing("a::a"), ended("one"), missing("b::b"), ended("two"))
    assert [each.program for each in (first, second)] == ["one", "two"]
    assert [each.obstacles[0].words[-4:] for each in (first, second)] == ["a::a", "b::b"]
    (alone,) = exports(ended())
    assert alone.program == "class P"
    (twice,) = exports(begun(), ended("one"), ended("once more"))
    assert twice.program == "once more"


def test_what_a_compile_ran_into_is_no_exports_unless_the_exporter_is_on_its_stack() -> None:
    assert exports(missing(ids=FRAME)) == ()
    (after,) = exports(begun(), ended(), missing(ids=FRAME))
    assert after.obstacles == ()
    (behind,) = exports(begun(), missing(ids=FRAME))
    assert behind.obstacles == ()
    (strict,) = exports(begun(), missing(stack=[*USER, EXPORTER], ids=FRAME))
    assert len(strict.obstacles) == 1


def test_what_is_met_again_is_one_and_stands_where_it_was_met_last() -> None:
    (found,) = exports(begun(), missing("a::a", USER[:1]), missing("b::b"), missing("a::a", USER[:1]))
    assert [each.place and each.place.line for each in found.obstacles] == [7, 3]


def test_at_one_line_and_for_one_cause_the_last_words_count() -> None:
    (found,) = exports(begun(), guarded("u0 > 1"), missing("a::a"), guarded("u0 > 2"))
    assert [each.words.rpartition(" ")[2] for each in found.obstacles] == ["a::a", "2"]


def test_the_line_is_the_users_innermost_and_torchs_own_below_it_are_left_out() -> None:
    (found,) = exports(begun(), missing(stack=[*USER, EXPORTER]))
    (met,) = found.obstacles
    assert (met.place, met.via) == (Place("/home/me/model.py", 7), None)


def test_a_line_of_a_file_without_a_name_is_none() -> None:
    unknown = [{"line": 3, "name": "f", "filename": 99}]
    (found,) = exports(begun(), missing("a::a", unknown), missing("b::b", unknown))
    assert [(each.place, each.words[-4:]) for each in found.obstacles] == [(None, "a::a"), (None, "b::b")]


def test_a_guess_and_a_kernel_that_says_otherwise_are_told_in_torchs_words() -> None:
    guess = {"expr": "u0 == 1", "result": "False", "stack": USER}
    kernel = {"op": "ns::op", "reason": "sizes differ", "stack": USER[:1]}
    (found,) = exports(
        begun(),
        record({"propagate_real_tensors_provenance": guess}),
        record({"mismatched_fake_kernel": kernel}),
    )
    assert [each.words for each in found.obstacles] == [
        "DATA_DEPENDENT_ERROR: u0 == 1 was taken to be False, as it is with the inputs at hand",
        "MISMATCHED_FAKE_KERNEL: ns::op: sizes differ",
    ]


@pytest.mark.parametrize(("count", "kept"), [(1000, 1000), (1001, 1000)])
def test_of_one_export_no_more_than_a_thousand_are_kept(count: int, kept: int) -> None:
    process = process_of(*FILES, begun(), *(missing(f"a::a{number}") for number in range(count)))
    assert len(process.export.traced[0].obstacles) == kept


def test_exports_of_all_processes_are_in_the_order_in_which_they_began() -> None:
    processes = [
        Process(Path(name), export=Exporting(traced=process_of(*FILES, begun(), ended(name)).export.traced))
        for name in ("a", "b")
    ]
    processes[0].export.traced[0].began = "1120 19:08:31"
    recording = Recording(Path("rec"), None, processes, None, [])
    assert [(each.stream, each.program) for each in exports_in_trace(recording)] == [("b", "b"), ("a", "a")]
    assert exports_of(recording).traced == exports_in_trace(recording)
    assert exports_of(recording).left_out is None
    with pytest.raises(NotARecording):
        exports_of(Recording(Path("rec"), None, [], None, []))

"""What records of graph breaks and of guards make: whose words count, which stack, what is read again."""

import json
from typing import Any

import pytest

from dynamo_core.model import CompileId, Place, Process
from dynamo_core.model.guards import NOT_RESUMED
from dynamo_core.recording.guards import guards_of_function
from dynamo_core.shared import names
from support.trace_bytes import FRAME, artifact, process_of, record

STARTED = artifact(names.PROCESS_START, {"argv": ["x.py"], "torch": "2.13.0", "pid": 2350})
FILE = record({"str": ["/x/train.py", 0]})
AGAIN = {**FRAME, "frame_compile_id": 1}


def start(name: str = "f", ids: Any = FRAME) -> bytes:
    return record({"dynamo_start": {"stack": [{"line": 3, "name": name, "filename": 0}]}, **ids})


def read(*records: bytes, ours: bool = True, contents: Any = ()) -> Process:
    process = process_of(*((STARTED,) if ours else ()), FILE, *records, contents=contents)
    assert process.health.damaged_records == 0
    return process


def words(line: int = 8, why: str = "torch's", stack: tuple[tuple[str, int], ...] = ()) -> str:
    """torch's text on a break at a line of train.py."""
    frames = "".join(f'  File "/x/train.py", line {at}, in {name}\n    x\n' for name, at in stack)
    return (
        f"Graph break in user code at /x/train.py:{line}\nGraph Break Reason: no\n"
        f"  Explanation: {why}\n  Hint: none\n\nUser code traceback:\n{frames}"
    )


def said(text: str, ids: Any = FRAME) -> bytes:
    return record({"dynamo_graph_break_reason": {}, **ids}, text)


def broke(reason: str = "no", *, lines: tuple[int, ...] = (8,), **more: Any) -> bytes:
    stack = [{"file": "/x/train.py", "line": line, "name": "f", "text": None} for line in lines]
    return artifact(names.GRAPH_BREAK, {"reason": reason, "user_stack": stack, **more})


OWN = "no\n  Explanation: our own\n  Hint: none\n"


@pytest.mark.parametrize(
    ("records", "explanation"),
    [
        ((said(words()), broke()), "torch's"),
        ((said(words(9)), broke()), None),  # on another line
        ((said(words(), AGAIN), broke()), None),  # of another compile
        ((said(words()), said(words(why="later")), broke()), "later"),
        ((said(words()), broke(OWN)), "our own"),
        ((said(words(why="skipped").replace("Graph break in user code at ", "At ")), broke()), None),
        ((said(words()), said("a frame is skipped"), broke()), "torch's"),
        ((said(words()), broke(lines=())), None),
    ],
)
def test_a_break_is_explained_by_our_record_or_by_torchs_last_words_on_its_line(
    records: tuple[bytes, ...], explanation: str | None
) -> None:
    (found,) = read(start(), *records).breaks
    assert (found.explanation and found.explanation.explanation) == explanation


def test_a_break_is_at_the_innermost_line_and_has_the_lines_around_it() -> None:
    (found,) = read(start(), broke(lines=(4, 8), around={"7": "a", "8": "b"}, grad_enabled=False)).breaks
    assert (found.place, found.around, found.grad_enabled) == (
        Place("/x/train.py", 8),
        {7: "a", 8: "b"},
        False,
    )


def stack_of_break(process: Process) -> list[int]:
    return [frame.place.line for frame in process.breaks[0].stack]


def test_a_break_that_was_not_resumed_is_where_torchs_words_have_it_below_the_compiled_frame() -> None:
    text = words(9, stack=(("main", 1), ("f", 3), ("f", 4), ("g", 9)))
    process = read(start(), said(text), broke(NOT_RESUMED, around={"8": "b"}))
    assert (stack_of_break(process), process.breaks[0].around) == ([4, 9], {})
    assert stack_of_break(read(start("h"), said(text), broke(NOT_RESUMED))) == [9]
    assert stack_of_break(read(start(), said(words(9)), broke(NOT_RESUMED))) == [9]
    assert stack_of_break(read(start(), broke(NOT_RESUMED))) == [8]


def test_in_a_trace_that_is_not_ours_torchs_words_are_the_break_and_in_ours_they_are_not() -> None:
    (found,) = read(start(), said(words()), said("skipped"), ours=False).breaks
    assert (found.place, found.stack[0].function) == (Place("/x/train.py", 8), "")
    assert read(start(), said(words())).breaks == []


def test_a_break_belongs_to_the_test_in_which_its_compile_began() -> None:
    began = artifact(names.COMPILE_BEGUN, {"began_ns": 1, "test": "t.py::a (call)"})
    assert [each.test for each in read(start(), began, broke()).breaks] == ["t.py::a"]
    assert [each.test for each in read(start(), broke()).breaks] == [None]


def tree(*checks: str, source: str = "L['x']") -> str:
    leaves = "".join(f"| | +- {check}\n" for check in checks)
    head = f"+- RootGuardManager\n| +- GuardManager: source={source}, accessed_by=A\n"
    return f"{head}{leaves}\nGuard latency = 2.50 us\n"


def guards_text(text: str, ids: Any = FRAME) -> bytes:
    return record({"dynamo_cpp_guards_str": {}, **ids}, text)


def reasons(*texts: str, ids: Any = AGAIN) -> bytes:
    return record({"recompile_reasons": {}, **ids}, json.dumps(list(texts)))


SIZE = "TENSOR_MATCH: check_tensor(L['x'], size=[2])"
WHY = "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3"


def entries(text: str, why: str = WHY) -> list[list[str]]:
    process = read(start(), guards_text(text), start(ids=AGAIN), reasons(why))
    return [[check.source for check in each.checks or ()] for each in process.recompiled_entries]


def test_of_the_guards_of_a_recompiled_frame_those_of_what_failed_are_read() -> None:
    assert entries(tree(SIZE)) == [["L['x']"]]
    assert entries(tree(SIZE, source="L['y']")) == [[]]
    assert entries(tree("TYPE_MATCH: a", source="L['x'][0]")) == [["L['x'][0]"]]
    assert entries(tree("LAMBDA_GUARD: 2 <= L['y'].size()[0]", source="L['y']")) == [["L['y']"]]


def test_guards_of_other_frames_and_without_a_recompile_are_not_read() -> None:
    other = "5/0: tensor 'x' size mismatch at index 0. expected 2, actual 3"
    assert entries(tree(SIZE), other) == []
    assert entries(tree(SIZE), "tensor 'x' size mismatch at index 0. expected 2, actual 3") == []
    assert read(start(), guards_text(tree(SIZE))).recompiled_entries == []


def test_a_reason_is_one_text_or_a_list_of_them() -> None:
    def checks(record_: bytes) -> list[str]:
        return [each.check for each in read(start(), record_).recompile_reasons[0].failures]

    assert checks(record({"recompile_reasons": {}, **FRAME}, "0/0: a == 1")) == ["a == 1"]
    assert checks(record({"recompile_reasons": {}, **FRAME}, '"0/0: a == 1"')) == ["a == 1"]
    assert checks(reasons("0/0: a == 1", "0/1: b == 2", ids=FRAME)) == ["a == 1", "b == 2"]


def test_an_entry_that_failed_is_of_the_generation_of_the_ids_by_then() -> None:
    process = read(start(), reasons(WHY), start(), reasons(WHY), reasons("no id"))
    entry = [each.failures[0].entry for each in process.recompile_reasons]
    assert entry == [CompileId(0, 0), CompileId(0, 0, None, 1), None]


def made(source: str, ids: Any = FRAME, **place: Any) -> bytes:
    guard = {"type": "TYPE_MATCH", "source": source, "scope": "local", "code": ["a", "b"], **place}
    return artifact(names.GUARDS, {"guards": [guard]}, ids)


def test_guards_as_asked_for_join_those_as_checked_of_the_same_compile() -> None:
    contents = {names.GUARDS, "dynamo_cpp_guards_str"}
    process = read(
        start(),
        guards_text(tree(SIZE)),
        made("x", file="/x/train.py", line=9),
        made("again"),
        made("y", AGAIN),
        contents=contents,
    )
    told = [
        (each.compile_id, each.latency_us, each.checks is not None, [g.source for g in each.guards or ()])
        for each in process.guard_sets
    ]
    assert told == [
        (CompileId(0, 0), 2.5, True, ["x"]),
        (CompileId(0, 0), None, False, ["again"]),
        (CompileId(0, 1), None, False, ["y"]),
    ]
    first, again = ((each.guards or ())[0] for each in process.guard_sets[:2])
    assert (first.code, first.place, again.place) == (("a", "b"), Place("/x/train.py", 9), None)


def test_guards_of_one_function_can_be_asked_for_and_those_of_what_it_resumes_are_its_own() -> None:
    resumed = start("torch_dynamo_resume_in_f_at_9", AGAIN)
    records = (start(), made("x"), resumed, made("y", AGAIN))
    for function, number in (("f", 2), ("g", 0)):
        assert len(read(*records, contents={guards_of_function(function)}).guard_sets) == number
    assert read(made("x"), contents={guards_of_function("f")}).guard_sets == []


def test_the_guards_of_a_compile_are_put_beside_its_checks_however_many_compiles_came_before() -> None:
    guards = {"guards": [{"type": "TENSOR_MATCH", "source": "L['x']", "scope": "local", "code": ["a"]}]}
    tree = "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- GuardManager: source=L['x']"
    both = [
        each
        for ids in (FRAME, AGAIN)
        for each in (
            record({"artifact": {"name": "dynamo_cpp_guards_str", "encoding": "string"}, **ids}, tree),
            artifact(names.GUARDS, guards, ids),
        )
    ]
    process = read(*both, contents={names.GUARDS, "dynamo_cpp_guards_str"})
    assert [(str(each.compile_id), each.guards is not None) for each in process.guard_sets] == [
        ("0/0", True),
        ("0/1", True),
    ]

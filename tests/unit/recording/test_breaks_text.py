"""torch's explanation of a graph break, as text of several versions has it."""

from dynamo_core.model import Place, StackFrame
from dynamo_core.recording.breaks import BreakBuilder, parse_break_text, parse_user_stack
from dynamo_core.recording.compile_context import CompileContext
from dynamo_core.recording.structured import RecordClock
from support.made import of_one_process

TEXT = """Graph break in user code at /tmp/toy.py:4
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).

      The branch condition involves a tensor.

  Hint: Use `torch.cond` to express dynamic control flow.
  Hint: This graph break is fundamental.

  Developer debug context: attempted to jump with TensorVariable()

 For more details about this graph break, please visit: https://x/gb/gb0170.html

User code traceback:
  File "/tmp/toy.py", line 4, in toy_example
"""


def test_all_parts() -> None:
    found = parse_break_text(TEXT)
    assert found is not None
    assert found.place == Place("/tmp/toy.py", 4)
    assert found.kind == "Data-dependent branching"
    assert found.explanation is not None
    assert found.explanation.startswith("Detected data-dependent branching")
    assert found.hints == (
        "Use `torch.cond` to express dynamic control flow.",
        "This graph break is fundamental.",
    )
    assert found.registry_id == "GB0170"


def test_the_kind_stands_behind_a_preamble_in_later_versions() -> None:
    preamble = "Encountered graph break when attempting to trace CALL: a function call:\n\n"
    found = parse_break_text(TEXT.replace("Reason: Data", f"Reason: {preamble}Data"))
    assert found is not None
    assert found.kind == "Data-dependent branching"


def test_what_is_missing_stays_none() -> None:
    found = parse_break_text("Graph break in user code at x.py:1\nGraph Break Reason: odd\n")
    assert found is not None
    assert (found.explanation, found.hints, found.registry_id) == (None, (), None)
    assert parse_break_text("Graph break: skip\n") is None


def test_a_second_break_on_top_of_the_first_is_told() -> None:
    text = (
        "Graph break in user code at /x/train.py:9\n"
        "Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling back "
        "to eager. Graph break encountered:\n\n"
        "Failed to trace builtin operator\n  Explanation: No `print`.\n  Hint: Avoid it.\n\n"
        "  Developer debug context: print\n\n"
        "*** While handling this graph break, another graph break occurred: ***\n\n"
        "graph break in loop\n  Explanation: A loop cannot be resumed.\n  Hint: Move it.\n\n"
        "  Developer debug context: loop\n"
    )
    found = parse_break_text(text)
    assert found is not None
    assert found.kind == "Failed to trace builtin operator"
    assert found.explanation == "No `print`. On top of it: graph break in loop. A loop cannot be resumed."
    assert found.hints == ("Avoid it.", "Move it.")


def test_the_reason_is_what_stands_behind_the_words_on_what_torch_does() -> None:
    found = parse_break_text(
        "Graph break in user code at /x/train.py:9\n"
        "Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling back "
        "to eager. Graph break encountered:\n\n"
        "Could not extract specialized integer from data-dependent expression u0\n\nUser Stack:\n"
    )
    assert found is not None
    assert found.kind == "Could not extract specialized integer from data-dependent expression u0"


def test_the_users_stack_is_read_frame_by_frame() -> None:
    long = "x" * 2000
    stack = parse_user_stack(
        "User code traceback:\n"
        '  File "/a.py", line 1, in main\n    run(\n    ^^^^\n'
        '  File "/e.py", line 5, in over_lines\n    return record(\n    \n'  # by Python 3.14
        '  File "/b.py", line 22, in <module>\n'
        f'  File "/c.py", line 3, in f\n    {long}\n'
        '  File "/b.py", line no, in none\n'
        '  File "/d.py", line 4, in last\n'
        "\nTraceback (most recent call last):\n"
        '  File "/torch.py", line 9, in inner\n'
    )
    assert stack == (
        StackFrame(Place("/a.py", 1), "main", "run("),
        StackFrame(Place("/e.py", 5), "over_lines", "return record("),
        StackFrame(Place("/b.py", 22), "<module>", ""),
        StackFrame(Place("/c.py", 3), "f", long),
        StackFrame(Place("/d.py", 4), "last", ""),
    )


def test_an_error_of_torchs_names_the_users_lines_in_one_of_three_ways() -> None:
    process = of_one_process().processes[0]
    builder = BreakBuilder(process, CompileContext(process, {}), RecordClock())
    for words in ("User stack:", "User stack trace:", "from user code:"):
        reason = f'AssertionError: Guard failed.\n{words}\n  File "/tmp/toy.py", line 4, in f\n    id(x.y)\n'
        found = builder.break_named_in(reason, None)
        assert found is not None and found.stack == (StackFrame(Place("/tmp/toy.py", 4), "f", "id(x.y)"),)
    assert builder.break_named_in("AssertionError: Guard failed.", None) is None

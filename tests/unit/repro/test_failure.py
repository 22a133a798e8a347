"""Failures: what counts as the same one."""

from typing import Any

from dynamo_core.repro.failure import (
    Failure,
    failure_of,
    failures_of,
    graph_break,
    normalized,
    outputs_differ,
)
from dynamo_core.repro.proof import in_words, is_failure

PASSED: dict[str, Any] = {"ending": "passed", "output": "loss 0.5"}


def raised(kind: str, message: str, where: str = "torch/_inductor/graph.py") -> dict[str, Any]:
    return {"ending": "raised", "type": kind, "message": message, "where": where}


def test_numbers_addresses_and_paths_do_not_count() -> None:
    one = normalized("cannot view [3, 4] at 0x7f12ab as /home/me/x.py:12\n\nhint: s27 > 3")
    assert one == normalized("cannot view [8, 1, 2] at 0x55 as /tmp/repro.py:3\nhint: s0 > 1")
    assert one != normalized("cannot expand [3, 4]")


def test_same_failure() -> None:
    first = failure_of(raised("RuntimeError", "size 3 is bad"))
    assert first is not None
    assert first.is_same(failure_of(raised("RuntimeError", "size 17 is bad")))
    assert not first.is_same(failure_of(raised("ValueError", "size 3 is bad")))
    assert not first.is_same(failure_of(raised("RuntimeError", "stride 3 is bad")))
    assert not first.is_same(failure_of(PASSED))


def test_kinds() -> None:
    close = raised(
        "AssertionError", "Tensor-likes are not close!\n\nMismatched", "torch/testing/_comparison.py"
    )
    kinds = {
        "wrong result": close,
        "exception": raised("AssertionError", "is a node", "torch/_dynamo/symbolic_convert.py"),
        "crash": {"ending": "signal", "message": "SIGSEGV"},
        "hang": {"ending": "hang", "message": "it did not end"},
    }
    for kind, outcome in kinds.items():
        failure = failure_of(outcome)
        assert failure is not None
        assert failure.kind == kind


def test_another_output_is_a_wrong_result() -> None:
    assert [each.kind for each in failures_of({**PASSED, "output": "loss 0.7"}, PASSED)] == ["wrong result"]
    assert failures_of({**PASSED, "output": "loss 0.500001"}, PASSED) == []


def test_breaks_and_recompiles_are_listed() -> None:
    recompiled = (
        "Recompiling function f in /a/b.py:3\n    triggered by the following:\n    - 0/0: x.size()[0] == 3"
    )
    found = failures_of({**PASSED, "breaks": ["Unsupported: print"], "recompiles": [recompiled]}, PASSED)
    assert [(each.kind, each.full_message) for each in found] == [
        ("graph break", "Unsupported: print"),
        ("recompile", "x.size()[0] == 3"),
    ]


def test_a_graph_break_is_told_by_its_reason() -> None:
    at = "Graph break in user code at /tmp/x/{}\nGraph Break Reason: "
    behind = "\n  Explanation: torch's.\n\nUser code traceback:\n  File /tmp/x\n"
    of_item = "Encountered graph break when attempting to trace CALL: f(x):\n\nUnsupported Tensor.item() call"
    one, other = (graph_break(at.format(place) + of_item + behind) for place in ("a.py:3", "b.py:40"))
    assert one.full_message == "Unsupported Tensor.item() call\n  Explanation: torch's."
    assert one.is_same(other)
    branch = graph_break(at.format("a.py:3") + "Data-dependent branching" + behind)
    assert branch.message.startswith("Data-dependent branching") and not branch.is_same(one)


def test_a_guard_is_the_same_on_another_line_and_in_another_file() -> None:
    def text(folder: str, line: int, code: str) -> str:
        return (
            f"Recompiling function note in {folder}/repro.py:{line}\n"
            "    triggered by the following guard failure(s):\n"
            f"    - {line}/0: not G['seen']        # {code}  # {folder[3:]}/repro.py:{line} in note\n"
            f'    - User stack trace:\n    -   File "{folder}/repro.py", line {line}, in note\n'
            f"    -     {code}"
        )

    before, after = text("/tmp/a/b", 14, "seen.append(t.max().item())"), text("/tmp/c", 3, "seen.append(1)")
    (first,), (second,) = (failures_of({**PASSED, "recompiles": [each]}, PASSED) for each in (before, after))
    assert first.is_same(second)
    assert first.full_message == "not G['seen']"
    assert normalized(before) == normalized(after)


def test_outputs() -> None:
    assert outputs_differ("tensor([1.])", "tensor([2.])")
    assert outputs_differ("1 2", "1")
    assert outputs_differ("True", "False")
    assert not outputs_differ("tensor([1.0001])", "tensor([1.0002])")
    assert not outputs_differ("tensor([0., 0.])", "tensor([ 2.9802e-08, -1.4901e-08])")
    assert not outputs_differ("<function f at 0x7fb29e302160>", "<function f at 0x7fb2a1>")


def test_ending_of_a_run_alone() -> None:
    failure = Failure(
        "exception", "BackendCompilerFailed", normalized("backend='b' raised:\nValueError: no 3")
    )
    text = (
        'Traceback (most recent call last):\n  File "repro.py", line 3\n'
        "torch._dynamo.exc.BackendCompilerFailed: backend='b' raised:\nValueError: no 7\n\nSet TORCH_LOGS\n"
    )
    assert is_failure({"ending": "failed", "stderr": text}, failure)
    assert not is_failure({"ending": "failed", "stderr": "ModuleNotFoundError: No module named 'x'"}, failure)
    assert not is_failure({"ending": "passed", "stderr": ""}, failure)
    differs = Failure("wrong result", "AssertionError", normalized("Scalars are not close!"))
    assert is_failure(
        {"ending": "failed", "stderr": "AssertionError: Tensor-likes are not close!\n"}, differs
    )
    assert is_failure({"ending": "signal", "stderr": "11"}, Failure("crash", "SIGSEGV", ""))
    assert in_words({"ending": "signal", "stderr": "6"}) == "ended by signal 6"
    assert in_words({"ending": "passed", "stderr": "a warning"}) == "passed"

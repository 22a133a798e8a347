"""Which calls of torch.compile a remedy that replaces their arguments is for."""

from dataclasses import replace

import pytest

from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.fix.joint import compile_calls
from dynamo_core.model import Place, StackFrame
from dynamo_core.remedies.rules import Assignment, Change
from support.made import of_one_process
from support.made_findings import fallback

DYNAMIC = Change(arguments=(Assignment("dynamic", "True"),))


def called_at(line: int) -> StackFrame:
    return StackFrame(Place("/home/me/train.py", line), "<module>", "")


def recompile_of(function: str, change: Change = DYNAMIC) -> Finding:
    remedies = (Remedy("setting", "dynamic=True", "dynamo recompiles", change),)
    return Finding(
        *("recompile", function, "", "", "", None, function, "", None, False),
        *(Cost(), Evidence(), remedies, ()),
    )


FRAMES = [
    replace(fallback(), name="f", compiled_by=called_at(2)),
    replace(fallback(), name="g", compiled_by=called_at(7)),
    replace(fallback(), name="torch_dynamo_resume_in_g_at_9", compiled_by=called_at(7)),
    replace(fallback(), name="inner"),
]


@pytest.mark.parametrize(
    ("functions", "lines"),
    [(["g"], [7]), (["f", "g"], [2, 7]), (["torch_dynamo_resume_in_g_at_9"], [7]), (["inner"], [2, 7])],
)
def test_the_calls_are_those_for_the_functions_that_it_is_to_cure(
    functions: list[str], lines: list[int]
) -> None:
    found = compile_calls(of_one_process(frames=FRAMES), [*map(recompile_of, functions)], DYNAMIC)
    assert [place.line for place in found] == lines


def test_what_another_change_cures_is_not_asked() -> None:
    findings = [recompile_of("g"), recompile_of("f", Change(edit="statement removed"))]
    assert [place.line for place in compile_calls(of_one_process(frames=FRAMES), findings, DYNAMIC)] == [7]
    assert compile_calls(of_one_process(frames=FRAMES), findings, Change(edit="statement removed")) == ()

"""Why a captured program's counts may differ from those of `torch.compile` of its modules."""

from typing import Any

import pytest

from dynamo_core.analysis.other_counts import why_counts_differ
from dynamo_core.analysis.verdict import origin_sentence
from dynamo_core.model import Deferred, Frame, GraphBreak, Place, Recording, Run, StackFrame
from support.made import decided, of_one_process

PACKAGES = "/v/lib/python3.11/site-packages"
AT = Place("/home/me/train.py", 3)
FORWARD = StackFrame(AT, "Net.forward", "y = self.mix(x)")
IN_LIBRARY = StackFrame(Place(f"{PACKAGES}/kornia/color.py", 7), "to_list", "x.tolist()")
IN_TORCH = StackFrame(Place(f"{PACKAGES}/torch/distributions/distribution.py", 68), "__init__", "if valid:")
BEHIND_A_BREAK = "library functions behind a graph break or fallback run eager (--capture all compiles them)"


def frame(name: str, outcome: Any = "compiled", **more: Any) -> Frame:
    return Frame(name, AT, outcome, None, outcome == "compiled", False, None, **more)


def broken(*stack: StackFrame) -> GraphBreak:
    return GraphBreak("no way", stack, None)


def captured(policy: str = "auto", semantics: str = "eager", **fields: Any) -> Recording:
    run = Run.of({"exit_code": 0, "settings": {"semantics": semantics}})
    return of_one_process(run, captures=[decided(policy=policy)], **fields)


def test_where_only_modules_were_compiled_whole_nothing_is_said() -> None:
    forwards = [frame("Net.forward"), frame("torch_dynamo_resume_in_forward_at_9")]
    own_break = broken(FORWARD, StackFrame(AT, "mix", "print(x)"))
    assert why_counts_differ(captured(frames=forwards, breaks=[own_break])) == ""
    assert why_counts_differ(captured(frames=[frame("step")])) == ""  # it has no modules


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"frames": [frame("f", "skipped", limit="--loop-limit")] * 2},
            "2 frames left eager by --loop-limit",
        ),
        ({"deferred": [Deferred("f", AT, 4)]}, "1 frame left eager by --capture-budget"),
        (
            {"frames": [frame("Net.forward")], "deferred": [Deferred("Net.forward", AT, 2)]},
            "1 frame not compiled for some calls, by --capture-budget",
        ),
        (
            {"frames": [frame("Net.forward"), frame("step"), frame("step")]},
            "1 function captured besides forward methods",
        ),
        (
            {"frames": [frame("training_step", method="Net.training_step")]},
            "1 function captured besides forward methods",
        ),
        ({"frames": [frame("Net.forward", "failed")]}, BEHIND_A_BREAK),
        ({"breaks": [broken(FORWARD, IN_LIBRARY)]}, BEHIND_A_BREAK),
        ({"breaks": [broken(FORWARD, IN_TORCH)]}, "torch.distributions checks its arguments, as in eager"),
    ],
)
def test_what_capture_did_otherwise_is_said(fields: dict[str, Any], reason: str) -> None:
    recording = captured(**fields)
    sentence = f"Counts may differ from torch.compile of its modules: {reason}."
    assert why_counts_differ(recording) == sentence
    assert origin_sentence(recording).endswith(f". {sentence}")


def test_what_the_options_switch_off_is_no_reason() -> None:
    assert why_counts_differ(captured("all", breaks=[broken(FORWARD, IN_LIBRARY)])) == ""
    assert why_counts_differ(captured(semantics="compiled", breaks=[broken(FORWARD, IN_TORCH)])) == ""


def test_of_a_program_that_compiles_for_itself_nothing_is_said() -> None:
    watched = [decided(), decided("observe", because="it calls torch.compile")]
    for captures in ([], watched):
        assert why_counts_differ(of_one_process(captures=captures, deferred=[Deferred("f", AT, 4)])) == ""

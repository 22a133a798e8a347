"""What a frame at its limit is said to be recompiled for, where its versions came before the recording."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.findings import Finding, find
from dynamo_core.model import Compile, CompileId, RecompileReasons, Recording, Run
from dynamo_core.recording.guards import parse_guard_failure
from support.made import compiled, of_one_process

GRAD = "0/0: GLOBAL_STATE changed: grad_mode"
COUNTER = "0/6: self.calls == 6  # self.calls += 1  # me/train.py:5 in f"


def at_the_limit(*reasons: str) -> Finding:
    """The finding of a cell with the last recompiles of a frame, up to the one that is refused at 8."""
    begin = 9 - len(reasons)
    again: list[Compile] = [compiled(number, reason="") for number in range(begin, 9)]
    again[-1] = replace(again[-1], fail_type="RecompileLimitExceeded", fail_reason="recompile_limit reached")
    told = [
        RecompileReasons(CompileId(0, number), (parse_guard_failure(each),))
        for number, each in enumerate(reasons, begin)
    ]
    (process,) = of_one_process(compiles=again, recompile_reasons=told, torch_version="2.13.0").processes
    found = find(Recording(Path("rec"), Run(exit_code=0), [process], 1, []))
    return next(each for each in found if each.kind == "recompile limit")


def test_of_causes_that_came_as_often_it_is_the_one_that_torch_refused() -> None:
    found = at_the_limit(GRAD, COUNTER)
    assert (
        found.key == ("value", "self.calls", "") and "7 versions of it were compiled before" in found.effect
    )
    assert at_the_limit(COUNTER, GRAD, GRAD).key[0] == "global state"


def test_a_mode_that_is_on_or_off_is_not_what_made_the_versions_before() -> None:
    (advice,) = at_the_limit(GRAD).remedies
    assert advice.text.startswith("see what the versions were compiled for that came before")
    assert "Whether gradients are recorded can make two versions of each" in advice.text

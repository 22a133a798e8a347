"""How many calls of a frame at its limit ran eager: known only of what goes on behind a graph break."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.analysis.figures import Figures
from dynamo_core.case import Case
from dynamo_core.findings import find
from dynamo_core.model import Bytecode, CallTimes, Compile, CompileId, Frame, Graph, Place, ResumeFunction
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.recompiles import report
from support.made import of_one_process

BEFORE, NAME = CompileId(0, 0), "torch_dynamo_resume_in_f_at_4"


def at(number: int) -> CompileId:
    return CompileId(1, number)


def called(number: int, compile_id: CompileId, calls: int, **known: Any) -> Graph:
    times = CallTimes(calls, calls * 1e-3, {(1, 2): calls}, (), (), None, **known)
    return Graph(number, compile_id, 0, None, "eager", 1, is_compiled=True, times=times, calls=calls)


def code(compile_id: CompileId, fingerprint: str = "the rest of f") -> Bytecode:
    return Bytecode(compile_id, NAME, NAME, Place("/x.py", 4), fingerprint, {}, (), ())


def again(number: int, fail_reason: str | None = None) -> Compile:
    return Compile(
        at(number), NAME, Place("/x.py", 4), 1.0, True, 1, 1, "it failed", None, fail_reason, {}, None, None
    )


MADE = ResumeFunction("__resume_at_8_1", NAME, "the rest of f", BEFORE)
KNOWN: dict[str, Any] = {
    "graphs": [called(1, BEFORE, 32), called(2, at(0), 1), called(3, at(1), 1)],
    "bytecodes": [code(BEFORE, "f"), code(at(0)), code(at(1))],
    "compiles": [again(1), again(2, "recompile_limit reached")],
    "resume_functions": [MADE],
}


def effect_of(**changes: Any) -> str:
    (limit,) = (
        each for each in find(of_one_process(**{**KNOWN, **changes})) if each.kind == "recompile limit"
    )
    return limit.effect


def test_behind_a_break_the_calls_of_the_graph_before_tell() -> None:
    told = "its 2 compiled versions ran 2 calls in all; from call 3 on it ran eager, "
    assert effect_of() == f"{told}at most 30 times, as the graph before it ran 32 times"
    graphs = [called(1, BEFORE, 32), called(2, at(0), 20), called(3, at(1), 11)]
    assert effect_of(graphs=graphs) == (
        "its 2 compiled versions ran 31 calls in all, all others have run eager since, at most 1 time, as "
        "the graph before it ran 32 times"
    )


BRANCH = replace(MADE, name="__resume_at_20_2", fingerprint="the other rest of f")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"resume_functions": []}, id="a function that begins anew"),
        pytest.param({"resume_functions": [MADE, BRANCH]}, id="a branch"),
        pytest.param({"bytecodes": [*KNOWN["bytecodes"], code(CompileId(2, 0))]}, id="two frames"),
        pytest.param({"bytecodes": [*KNOWN["bytecodes"], code(at(3))]}, id="a version without a graph"),
        pytest.param({"graphs": KNOWN["graphs"][1:]}, id="no graph before the break"),
        pytest.param(
            {"graphs": [called(1, BEFORE, 32, raised=1), *KNOWN["graphs"][1:]]}, id="a call that raised"
        ),
        pytest.param({"graphs": [called(1, BEFORE, 1), *KNOWN["graphs"][1:]]}, id="fewer calls before"),
    ],
)
def test_of_all_others_it_was_not_recorded(changes: dict[str, Any]) -> None:
    assert effect_of(**changes).endswith("; from call 3 on it ran eager, how often was not recorded")


def test_calls_that_were_not_counted_are_not_recorded() -> None:
    graphs = [replace(each, times=None, calls=None) for each in KNOWN["graphs"]]
    assert effect_of(graphs=graphs) == (
        "calls that fit none of its compiled versions have run eager since, how often was not recorded"
    )


def test_the_page_of_recompiles_says_the_same() -> None:
    known = of_one_process(**KNOWN)
    assert Figures(known).recompiled[0].limit is not None
    page = " ".join(plain_text(report().page(Case(known))).split())
    assert "no entry have run eager since, at most 30 times, as the graph before it ran 32 times." in page


def test_nothing_ran_eager_where_torch_raised_an_error_at_its_limit() -> None:
    raised = Frame(NAME, Place("/x.py", 4), "raised", "it failed", False, False, at(2))
    told = effect_of(frames=[raised])
    assert told == "its 2 compiled versions ran 2 calls in all; a call that fit none of them raised an error"
    page = " ".join(plain_text(report().page(Case(of_one_process(**KNOWN, frames=[raised])))).split())
    assert "at its recompile limit: a call that fit no entry raised an error." in page


def test_what_was_counted_is_said_where_one_frame_was_refused() -> None:
    told = "its 2 compiled versions ran 2 calls in all; from call 3 on it ran eager, "
    assert effect_of(calls_at_limit=24) == f"{told}24 times"
    other = replace(again(1), compile_id=CompileId(7, 0), recompile_reason=None)
    assert effect_of(calls_at_limit=24, compiles=[*KNOWN["compiles"], other]) == f"{told}at most 24 times"
    refused = replace(again(9, "recompile_limit reached"), compile_id=CompileId(7, 9))
    found = find(of_one_process(**{**KNOWN, "compiles": [*KNOWN["compiles"], refused]}, calls_at_limit=24))
    effects = [each.effect for each in found if each.kind == "recompile limit"]
    assert effects and not any("24 times" in effect for effect in effects)


def test_of_several_threads_at_least_so_many_calls_were_counted() -> None:
    """A thread that waits for the compile of another has looked up before its call could be counted."""
    threads = [
        Frame(NAME, Place("/x.py", 4), "compiled", None, False, False, at(0), thread=name)
        for name in (None, "worker")
    ]
    assert effect_of(calls_at_limit=24, frames=threads).endswith("it ran eager, at least 24 times")
    other = replace(again(1), compile_id=CompileId(7, 0), recompile_reason=None)
    both = effect_of(calls_at_limit=24, frames=threads, compiles=[*KNOWN["compiles"], other])
    assert "24" not in both

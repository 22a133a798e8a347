"""How graphs that were run beside eager are counted, and what is said of each."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.verification import (
    NO_CALL,
    ProgramCall,
    Verification,
    audit_sentence,
    node_text,
    not_compared_lines,
    off_text,
    program_lines,
    program_sentence,
    since_text,
    verification,
    verified_sentence,
    wrong_lines,
)
from dynamo_core.bench.measured import Agreement, agreement_of
from dynamo_core.model import (
    ComparedValue,
    CompileId,
    Graph,
    Place,
    Process,
    ProcessInfo,
    Recording,
    Run,
    RunSettings,
    VerifiedCall,
    WrongNode,
)
from support.made import verified_call_of, with_fields
from support.made_findings import graph

PLACE = Place("/home/me/train.py", 3)


def value(error: float | None = 2.0, allowed: float | None = 4.0, **more: object) -> ComparedValue:
    known = {"name": "output 0", "against": "eager", "detail": None, **more}
    return ComparedValue(error=error, allowed=allowed, **known)  # type: ignore[arg-type]


def call(outcome: str = "agrees", of: int = 1, **more: object) -> VerifiedCall:
    known: dict[str, object] = dict.fromkeys(
        ("why", "gradients", "worst", "first_wrong", "node", "node_unknown"), None
    )
    known |= {"graph": of, "call": 1, "outcome": outcome, "compared": 1, "against_float64": 0, "seconds": 0.5}
    return VerifiedCall(**{**known, **more})  # type: ignore[arg-type]


def recording(
    *calls: VerifiedCall, graphs: int = 1, verify: str | None = "error", **more: object
) -> Recording:
    made: list[Graph] = [graph(n, CompileId(n, 0), frame_place=PLACE) for n in range(1, graphs + 1)]
    known = {"info": ProcessInfo(pid=1), "graphs": made, "verified": list(calls), **more}
    process = with_fields(Process(Path("s.log")), known)
    return Recording(Path("rec"), Run(settings=RunSettings(verify=verify)), [process], 1, [])


def of(*calls: VerifiedCall, graphs: int = 1, **more: object) -> Verification:
    found = verification(recording(*calls, graphs=graphs, **more))  # type: ignore[arg-type]
    assert found is not None
    return found


RIGHT = "Graphs that computed what the captured graph computes"


def test_there_is_a_verification_where_it_was_asked_for_or_there_are_calls() -> None:
    assert verification(recording(verify=None)) is None
    assert verification(recording(verify="warn")) is not None
    assert verification(recording(call(), verify=None)) is not None


def test_a_graph_agrees_disagrees_or_was_not_compared_by_all_of_its_calls() -> None:
    found = of(
        call(of=1),
        call("not comparable", of=1, why="x"),
        call(of=2),
        call("disagrees", of=2, call=2),
        call("disagrees", of=2, call=3),
        call("not verified", of=3, why="a"),
        call("not comparable", of=3, why="b"),
        call("not comparable", of=4),
        graphs=5,
    )
    assert [each.graph.number for each in found.agreeing] == [1]
    assert [each.graph.number for each in found.wrong] == [2]
    assert found.wrong[0].wrong_call is not None and found.wrong[0].wrong_call.call == 2
    reasons = [(each.graph.number, each.why_not_compared) for each in found.not_compared]
    assert reasons == [(3, "b"), (4, "no reason recorded"), (5, NO_CALL)]
    assert found.seconds == 4.0


def test_graphs_that_the_backend_did_not_take_are_left_out() -> None:
    known = recording(call(), call(of=2), graphs=2)
    known.processes[0].graphs[1].is_compiled = False
    found = verification(known)
    assert found is not None and [each.graph.number for each in found.graphs] == [1]


def test_the_verdict_names_each_kind_that_there_is() -> None:
    assert audit_sentence(None) == audit_sentence(of(graphs=0)) == "nothing could be compared with eager"
    program = "the program itself was not compared"
    right = "computed what the captured graph computes"
    assert (
        audit_sentence(of(call("not verified", why="a"))) == f"1 graph could not be compared (a); {program}"
    )
    assert audit_sentence(of(call())) == f"1 graph {right}; {program}"
    some = of(call("disagrees", of=1), call(of=2), call(of=3), graphs=4)
    assert audit_sentence(some) == (
        f"1 graph computed something else than eager, 2 graphs {right}, 1 graph could not be compared "
        f"({NO_CALL})"
    )


def test_only_random_numbers_of_its_own_excuse_that_nothing_was_compared() -> None:
    assert of(call("not verified", why="a")).is_blind
    assert of(graphs=1).is_blind
    assert of(call("not comparable"), call("not verified", of=2), graphs=2).is_blind
    assert not of(call("not comparable")).is_blind
    assert not of(call("not verified"), call(of=2), graphs=2).is_blind
    assert not of(call("disagrees")).is_blind


def test_the_largest_error_is_the_one_nearest_to_its_limit_in_graphs_that_agree() -> None:
    nearest = value(3.0, 4.0, size=10.0)
    found = of(
        call(worst=value(5.0, 100.0)),
        call(worst=nearest),
        call(worst=value(9.0, 0.0)),
        call(worst=value(None, None)),
        call("disagrees", of=2, worst=value(9.0, 1.0)),
        graphs=2,
    )
    assert verified_sentence(found) == (
        f"{RIGHT}: 1 of 2; largest error 3 (values up to 10) where 4 is allowed"
    )
    assert verified_sentence(of(call(worst=value(None, None)))) == f"{RIGHT}: 1 of 1"


def test_that_no_graph_could_be_compared_does_not_read_as_if_it_was_wrong() -> None:
    none = "Graphs that could be compared with what was captured: 0 of 1"
    assert verified_sentence(of(call("not verified"))) == none
    assert verified_sentence(of(call("disagrees"))) == f"{RIGHT}: 0 of 1"


def test_without_graphs_it_is_said_whether_there_were_none() -> None:
    assert verified_sentence(of(graphs=0)) == "Nothing was verified: no graph was compiled"
    lost = of(graphs=0, failed_probes={"graphs": "TypeError"})
    assert verified_sentence(lost) == "Nothing was verified: graphs were not recorded"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (value(), "output 0: off by 2 from eager, 4 allowed"),
        (value(size=0.5), "output 0: off by 2 from eager (values up to 0.5), 4 allowed"),
        (value(None, 4.0, detail="another shape"), "output 0: another shape"),
        (value(2.0, None, detail="inf"), "output 0: inf"),
        (value(0.0, 0.0), "output 0: off by 0 from eager, 0 allowed"),
        (None, "a value that was not recorded"),
    ],
)
def test_how_far_a_value_is_off(known: ComparedValue | None, said: str) -> None:
    assert off_text(known) == said


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (WrongNode("add", "aten.add", None, None), "add = aten.add"),
        (WrongNode("add", "aten.add", PLACE, value()), f"add = aten.add at {PLACE}, off by 2"),
        (WrongNode("add", "aten.add", None, value(None, detail="nan")), "add = aten.add, nan"),
    ],
)
def test_which_node_is_wrong(node: WrongNode, said: str) -> None:
    assert node_text(node) == said


def test_a_graph_that_disagrees_is_told_with_its_node_or_why_that_is_not_known() -> None:
    node = WrongNode("add", "aten.add", None, None)
    calls = [
        call("disagrees", of=1, call=4, first_wrong=value(), node=node, node_unknown="x"),
        call("disagrees", of=2, node_unknown="too large"),
        call("disagrees", of=3),
    ]
    known = recording(*calls, graphs=3)
    lines = list(wrong_lines(of(*calls, graphs=3), known))
    assert lines == [
        f"disagrees: graph 1 [1/0] forward at {PLACE}, call 4, output 0: off by 2 from eager, 4 allowed",
        "first wrong node of graph 1: add = aten.add",
        f"disagrees: graph 2 [2/0] forward at {PLACE}, call 1, a value that was not recorded",
        "wrong node of graph 2: not known: too large",
        f"disagrees: graph 3 [3/0] forward at {PLACE}, call 1, a value that was not recorded",
    ]


def test_what_was_not_compared_is_told_with_the_reason_and_gradients_with_the_first() -> None:
    calls = [
        call(of=1, gradients="compared"),
        call(of=1, gradients="no leaf"),
        call(of=1, gradients="later"),
        call(of=2),
        call("not verified", of=3, why="it writes"),
    ]
    known = recording(*calls, graphs=3)
    assert list(not_compared_lines(of(*calls, graphs=3), known)) == [
        f"not compared: graph 3 [3/0] forward at {PLACE}: it writes",
        f"gradients of graph 1 [1/0] forward at {PLACE}: no leaf",
    ]


CALL = "call 2 of f, compiled at /a/train.py:3"


def program_call(outcome: str = "agrees", **more: Any) -> ProgramCall:
    known = {"call": 2, "outcome": outcome, "compared": 4, "differences": 0, **more}
    return ProgramCall(Process(Path("s.log")), verified_call_of("/a/train.py", **known))


def with_calls(*calls: ProgramCall) -> Verification:
    return Verification((), True, calls)


@pytest.mark.parametrize(
    ("line", "operation", "is_told"),
    [(3, "torch.sin", False), (4, "torch.sin", True), (3, None, True)],
)
def test_a_node_of_another_line_than_the_first_wrong_operation_is_left_out(
    line: int, operation: str | None, is_told: bool
) -> None:
    node = WrongNode("add", "aten.add", Place("/a/train.py", 4), None)
    verified = call("disagrees", node=node)
    found = of(verified)
    wrong = program_call("disagrees", operation=operation, wrong_place=Place("/a/train.py", line))
    wrong = replace(wrong, process=found.wrong[0].process)
    lines = [*wrong_lines(replace(found, program_calls=(wrong,)), recording(verified))]
    assert any("first wrong node" in each for each in lines) == is_told


def test_what_calls_of_the_program_gave() -> None:
    wrong = program_call("disagrees", path="result", error=2.0, allowed=0.5, stage="AOTAutograd")
    unknown = program_call("not compared", why="CUDA is in use")
    assert program_sentence(with_calls(program_call())) == (
        "1 call of 1 compiled function compared with plain Python: all agree"
    )
    partly = program_call(left_out="the values of the tensor result")
    assert program_sentence(with_calls(program_call(), partly)).endswith("all agree in what was compared")
    assert list(program_lines(with_calls(program_call(), partly))) == [
        "not compared in 1 call of the program: the values of the tensor result"
    ]
    assert program_sentence(with_calls(program_call(), wrong)).endswith("compared with plain Python: 1 wrong")
    assert program_sentence(with_calls(unknown)) == "The program itself was not compared (CUDA is in use)"
    assert audit_sentence(with_calls(program_call(), wrong)) == (
        "1 call gave something else than plain Python, 1 call gave what plain Python gives"
    )
    assert list(program_lines(with_calls(wrong, unknown))) == [
        f"wrong: {CALL}: result: off by 2, 0.5 allowed; wrong since AOTAutograd",
        "not compared: 1 call of the program: CUDA is in use",
    ]
    assert audit_sentence(with_calls(partly)) == "1 call gave what plain Python gives in what was compared"
    assert audit_sentence(with_calls(program_call())) == "1 call gave what plain Python gives"


def test_that_further_calls_were_not_compared_is_said_and_why() -> None:
    spent = program_call("not compared", why="comparing had taken its share of the time (--verify-budget)")
    assert audit_sentence(with_calls(program_call(), spent, spent)) == (
        "1 call gave what plain Python gives (2 more not compared: comparing had taken its share of the time "
        "(--verify-budget))"
    )
    known = recording(call(of=1), graphs=1)
    known.processes[0].interventions.verified_program_calls.append(program_call().call)
    for calls, is_said in ((8, False), (9, True)):
        known.processes[0].graphs[0].calls = calls
        found = verification(known)
        assert found is not None
        assert ("(of a function the first eight calls" in audit_sentence(found)) == is_said
        assert any("the first eight calls" in each for each in program_lines(found)) == is_said


def test_no_line_is_wrong_where_a_backend_is_wrong_for_the_whole_graph() -> None:
    did = ComparedValue("output 0 (y)", None, None, "eager", "the backend returned None for output 0 (y)")
    known = recording(call("disagrees", first_wrong=did))
    wrong = program_call("disagrees", wrong_place=Place("/a/train.py", 4), operation="torch.sin")
    known.processes[0].interventions.verified_program_calls.append(wrong.call)
    found = verification(known)
    assert found is not None
    (only,) = found.wrong_calls
    assert (only.call.wrong_place, only.call.operation) == (None, None)
    assert next(iter(program_lines(found))).endswith("the backend `custom` returned None for output 0 (y)")


def test_bench_goes_by_calls_of_the_program_as_well() -> None:
    wrong = program_call("disagrees", path="result", error=2.0, allowed=0.5)
    known = recording(call(of=1), graphs=1)
    interventions = known.processes[0].interventions
    interventions.verified_program_calls.append(wrong.call)
    assert agreement_of(known) == Agreement("disagrees", f"wrong: {CALL}: result: off by 2, 0.5 allowed")
    interventions.verified_program_calls[:] = [program_call().call]
    found = agreement_of(known)
    assert found.verdict == "agrees"
    assert (found.detail or "").startswith(
        "1 call of 1 compiled function compared with plain Python: all agree; "
    )


def test_nothing_agrees_that_was_not_compared() -> None:
    for outcome in ("not compared", "not comparable"):
        found = with_calls(program_call(outcome, why="a"))
        sentences = (program_sentence(found), audit_sentence(found), *program_lines(found))
        assert not any("agree" in each or "gave what" in each for each in sentences)
        assert "not compared" in program_sentence(found)
    captured = Verification((), True, (), is_captured=True)
    assert program_sentence(captured).endswith("was not compared (no captured frame could be)")


def test_a_stale_entry_and_the_first_line_that_differs_are_named() -> None:
    stale = program_call("disagrees", stage="guards", wrong_place=Place("/a/b.py", 7), operation="sub.Tensor")
    assert since_text(stale.call) == (
        "an entry compiled for other values was used again: torch does not guard what changed, at "
        "/a/b.py:7 (sub.Tensor)"
    )


def test_an_operator_that_does_what_it_does_not_declare_is_no_fault_of_a_stage() -> None:
    at, does = Place("/a/b.py", 7), "gives dtype float64, where its fake kernel says float32"
    wrong = program_call("disagrees", stage="inductor", wrong_place=at, operation="a.b", undeclared=does)
    assert since_text(wrong.call) == f"wrong at /a/b.py:7 (a.b): it {does}"


def test_what_is_more_exact_than_written_is_told_once_for_a_function() -> None:
    exact = program_call(kind="more exact than written", path="result", error=0.01)
    (line,) = program_lines(with_calls(exact, exact))
    assert line.startswith(
        "more exact than written: call 2 of f, compiled at /a/train.py:3: result differs by"
    )
    rounded = program_call(kind="rounded otherwise", path="result", error=0.01)
    (line,) = program_lines(with_calls(rounded))
    assert line.startswith(
        "rounded otherwise: call 2 of f, compiled at /a/train.py:3: result differs by 0.01"
    )


def test_why_no_line_is_known_is_said_in_its_place() -> None:
    wrong = program_call("disagrees", stage="inductor", why="the search was ended")
    assert since_text(wrong.call) == "wrong since inductor; the search was ended"
    assert since_text(program_call("disagrees").call) == ""


def test_no_guard_is_missing_where_a_graph_of_the_function_is_wrong() -> None:
    stale = program_call("disagrees", stage="guards", function_place=PLACE).call
    (found,) = of(call("disagrees"), verified_program_calls=[stale]).program_calls
    assert found.call.stage is None
    for later in (call(), call("disagrees", call=2)):  # as where Inductor has folded what changed since
        (found,) = of(later, verified_program_calls=[stale]).program_calls
        assert found.call.stage == "guards"

"""What `dynamo run --try` has tried on a frame is said by the remedies of its findings."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from dynamo_core.findings import Finding, Remedy, find
from dynamo_core.findings.tried import outcomes
from dynamo_core.model import CompileId, GraphBreak, Place, TracedAgain, TriedChange
from support.made import of_one_process
from support.made_findings import a_break, graph, reasons, recompile

FILE = "/home/me/train.py"
AUTOGRAD = "torch._dynamo.config.trace_autograd_ops=True"
PRINT = "torch._dynamo.config.reorderable_logging_functions+=print"
SCALARS = "torch._dynamo.config.capture_scalar_outputs=True"


def traced(*lines: int, recompiled: int = 0, ops: int = 10, why: str | None = None) -> TracedAgain:
    return TracedAgain(tuple((Place(FILE, line),) for line in lines), recompiled, 0, ops, why)


def tried(
    *changes: str, before: TracedAgain, after: TracedAgain, compile_id: CompileId | None = None
) -> TriedChange:
    return TriedChange(compile_id, Place(FILE, 3), changes, before, after)


def of_a_break(*changes: TriedChange) -> Finding:
    recording = of_one_process(
        breaks=[a_break(7)], graphs=[graph(0, CompileId(0, 0))], tried_changes=list(changes)
    )
    return next(each for each in find(recording) if each.kind == "graph break")


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        (traced(), "gone"),
        (traced(7), "still there"),
        (traced(16), "moves to line 16"),
        (traced(ops=3), "less is compiled"),
        (traced(why="it crashed"), "not known: it crashed"),
        (traced(why="the call raised ValueError: no"), "raises ValueError: no"),
    ],
)
def test_a_break_with_a_change_that_no_table_has(after: TracedAgain, outcome: str) -> None:
    found = of_a_break(tried(AUTOGRAD, before=traced(7), after=after))
    texts = [(each.text, each.tried) for each in found.remedies]
    is_cure = outcome == "gone"
    assert is_cure == any("trace_autograd_ops = True" in text for text, _ in texts)
    assert [word for _, word in texts[:1]] == (["gone"] if is_cure else [None])


def test_a_change_with_which_the_call_raises_is_withdrawn_where_it_did_not_without() -> None:
    item = replace(a_break(7, text="n = x.item()"), reason="Unsupported Tensor.item() call")
    assert any("SCALAR_OUTPUTS" in each.text for each in remedies_of(item))
    raised = traced(why="the call raised GuardOnDataDependentSymNode: no")
    tries = tried(SCALARS, before=traced(7), after=raised)
    assert not any("SCALAR_OUTPUTS" in each.text for each in remedies_of(item, tries))
    both = tried(SCALARS, before=raised, after=raised)
    assert any("SCALAR_OUTPUTS" in each.text for each in remedies_of(item, both))


def test_a_change_that_only_moves_a_break_stands_behind_what_was_not_tried() -> None:
    sized = replace(a_break(7, text="kept = x[keep]"), reason="Dynamic shape operator\nno")
    setting, mask = (each.text for each in remedies_of(sized))
    assert "SHAPE_OPS" in setting
    name = "torch._dynamo.config.capture_dynamic_output_shape_ops=True"
    for after, is_first in ((traced(16), False), (traced(ops=3), False), (traced(), True)):
        found = [each.text for each in remedies_of(sized, tried(name, before=traced(7), after=after))]
        assert found == ([setting, mask] if is_first else [mask, setting])


def remedies_of(broken: GraphBreak, *changes: TriedChange) -> Sequence[Remedy]:
    recording = of_one_process(breaks=[broken], tried_changes=list(changes))
    return next(each for each in find(recording) if each.kind == "graph break").remedies


def test_what_may_lose_prints_is_no_further_advice() -> None:
    found = of_a_break(tried(PRINT, before=traced(7), after=traced()))
    assert not any("reorderable" in each.text for each in found.remedies)


def test_what_was_tried_for_another_line_says_nothing_here() -> None:
    found = of_a_break(tried(PRINT, before=traced(9), after=traced()))
    assert [each.tried for each in found.remedies] == [None] * len(found.remedies)


def remedies_of_a_recompile(*changes: TriedChange) -> Sequence[tuple[str, str | None]]:
    recording = of_one_process(
        compiles=[recompile(1)],
        recompile_reasons=[reasons(1, actual="5")],
        tried_changes=list(changes),
    )
    (found,) = (each for each in find(recording) if each.kind == "recompile")
    return [(each.text, each.tried) for each in found.remedies]


def test_of_a_recompile_the_trial_with_most_calls_counts() -> None:
    """The second value of a number makes a graph anew with the setting, too, and the third none."""
    before, later = traced(recompiled=1), traced(recompiled=2)
    first = tried("dynamic=True", before=before, after=before, compile_id=CompileId(0, 1))
    second = tried("dynamic=True", before=later, after=before, compile_id=CompileId(0, 2))
    of_two = partial(outcomes, "recompile", None, ("0/1", "0/2"))
    assert of_two([first, second]) == {"dynamic=True": "2 → 1 further graph"}
    assert of_two([first]) == {}
    assert outcomes("recompile", None, ("0/1",), [first]) == {"dynamic=True": "still there"}
    as_before = tried("dynamic=True", before=later, after=later, compile_id=CompileId(0, 1))
    assert outcomes("recompile", None, ("0/1",), [as_before]) == {}, "it may be the frame's other recompile"
    of_eight = [f"0/{number}" for number in range(1, 9)]
    assert outcomes("recompile limit", None, of_eight, [as_before]) == {}, "two calls do not tell of eight"


def test_a_recompile_is_gone_where_no_further_call_makes_a_graph() -> None:
    before, at = traced(recompiled=2), CompileId(0, 1)
    (_, outcome), *_ = remedies_of_a_recompile(
        tried("dynamic=True", before=before, after=traced(), compile_id=at)
    )
    assert outcome == "gone"
    fewer = tried("dynamic=True", before=before, after=traced(recompiled=1), compile_id=at)
    assert "gone" not in dict(remedies_of_a_recompile(fewer)).values()


def test_what_was_tried_for_another_compile_or_never_came_again_says_nothing() -> None:
    other = tried("dynamic=True", before=traced(recompiled=1), after=traced(), compile_id=CompileId(5, 1))
    never = tried("dynamic=True", before=traced(), after=traced(), compile_id=CompileId(0, 1))
    assert {outcome for _, outcome in remedies_of_a_recompile(other, never)} == {None}

"""What a graph break costs: the time from the graph before it to the one behind, at each crossing."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.analysis.break_costs import BreakCost, costs_of, effect_and_cost, seconds_in_all
from dynamo_core.analysis.break_effects import Crossing, DistinctBreak, distinct_breaks
from dynamo_core.analysis.guard_failures import is_named_in, lengthened_by
from dynamo_core.analysis.recompiles import frames_recompiled
from dynamo_core.model import (
    Bytecode,
    CallTimes,
    CompileId,
    Graph,
    GraphBreak,
    Place,
    Process,
    RecompileReasons,
    Recording,
    ResumeFunction,
    StackFrame,
)
from dynamo_core.model.graphs import CallSample
from dynamo_core.recording.guards import parse_guard_failure
from support.made import compiled, of_one_process

PROCESS = Process(Path("s.log"))
BREAK = GraphBreak("print", (), None)


def graph(number: int, *since: tuple[float | None, int | None], calls: int = 4) -> Graph:
    """The callable of index `number`, whose calls began so long after the end of another one's."""
    samples = tuple(CallSample(n, n, 1.0, seconds, previous) for n, (seconds, previous) in enumerate(since))
    times = CallTimes(calls, 1.0, {}, (), samples, None)
    known = {"calls_index": number, "calls": calls, "times": times, "is_compiled": True}
    return Graph(number, CompileId(number, 0), 0, None, "eager", 1, **known)  # type: ignore[arg-type]


def crossing(before: Graph, after: Graph, depth: int = 0) -> Crossing:
    return Crossing(PROCESS, before.compile_id, (before,), (after,), (before,), depth)


def cost(*crossings: Crossing) -> BreakCost:
    return costs_of([DistinctBreak((PROCESS,), BREAK, (BREAK,), crossings, ())])[0]


def test_only_what_comes_straight_after_the_graph_before_it_is_of_the_break() -> None:
    found = cost(crossing(graph(1), graph(2, (0.5, 1), (0.25, 1), (9.0, 7), (None, None))))
    assert (found.seconds_each, found.timed) == (0.375, 2)
    assert found.seconds == pytest.approx(4 * 0.375)


def test_frames_that_had_inlined_the_function_do_not_count() -> None:
    itself, inlined_by = (
        crossing(graph(1), graph(2, (0.5, 1))),
        crossing(graph(3), graph(4, (9.0, 3)), depth=1),
    )
    assert cost(itself, inlined_by).seconds_each == 0.5


def test_a_gap_that_several_versions_share_is_timed_once_for_each() -> None:
    one = crossing(graph(1), graph(2, (0.5, 1)))
    found = cost(one, replace(one, compile_id=CompileId(1, 1)))
    assert (found.seconds_each, found.timed) == (0.5, 2)


def test_what_was_never_timed_is_not_known() -> None:
    found = cost(crossing(graph(1), graph(2, (None, 1))))
    assert (found.seconds_each, found.seconds, found.timed) == (None, None, 0)


def test_a_break_at_the_start_of_a_function_counts_from_the_graph_of_its_caller() -> None:
    caller = crossing(graph(1), graph(4, (9.0, 3)), depth=1)
    itself = Crossing(PROCESS, CompileId(2, 0), (), (graph(2, (0.5, 1), (7.0, 9)),), None, 0)
    assert cost(caller, itself).seconds_each == 0.5


def broken_at(line: int, frame: int) -> GraphBreak:
    """A break that ends the first compile of the frame of this number."""
    where = Place("/home/me/train.py", line)
    return GraphBreak(f"print {line}", (StackFrame(where, "f", ""),), CompileId(frame, 0))


def resumed(made_by: int, frame: int) -> tuple[ResumeFunction, Bytecode]:
    """What goes on behind the break of the one frame, as the other one."""
    name, code = f"torch_dynamo_resume_in_f_at_{made_by}", f"code {frame}"
    function = ResumeFunction(f"__resume_at_8_{frame}", name, code, CompileId(made_by, 0))
    return function, Bytecode(CompileId(frame, 0), name, name, Place("t.py", 1), code, {}, (), ())


def test_breaks_with_no_graph_in_between_have_one_time_together() -> None:
    made = [resumed(made_by=0, frame=1), resumed(made_by=1, frame=2), resumed(made_by=2, frame=3)]
    known = of_one_process(
        breaks=[broken_at(5, 0), broken_at(6, 1), broken_at(7, 2)],
        graphs=[graph(0, calls=10), graph(3, (0.5, 0), calls=10)],
        resume_functions=[function for function, _ in made],
        bytecodes=[code for _, code in made],
    )
    costs = costs_of(distinct_breaks(known))
    assert [(each.seconds_each, each.seconds, len(each.along_with)) for each in costs] == [(0.5, 5.0, 2)] * 3
    assert seconds_in_all(costs) == 5.0
    middle = next(each for each in costs if each.distinct.first.stack[-1].place.line == 6)
    assert effect_and_cost(middle).endswith(
        "5.00 s in all, together with 2 other breaks (/home/me/train.py:5, /home/me/train.py:7): "
        "fixing them all saves at most this"
    )


def test_times_apart_are_added() -> None:
    known = of_one_process(
        breaks=[broken_at(5, 0), broken_at(6, 1)],
        graphs=[graph(0, calls=10), graph(1, (0.5, 0), calls=10), graph(2, (0.25, 1), calls=10)],
        resume_functions=[(one := resumed(0, 1))[0], (two := resumed(1, 2))[0]],
        bytecodes=[one[1], two[1]],
    )
    costs = costs_of(distinct_breaks(known))
    assert [(each.seconds_each, each.along_with) for each in costs] == [(0.5, ()), (0.25, ())]
    assert seconds_in_all(costs) == 7.5
    assert seconds_in_all([]) is None


def test_a_row_of_breaks_goes_on_in_the_function_that_is_called_next() -> None:
    """The frame breaks at line 5, then in a function at line 20, which has no graph before that either."""
    made = [resumed(made_by=0, frame=1), resumed(made_by=2, frame=3), resumed(made_by=1, frame=4)]
    inner = Place("/home/me/train.py", 20)
    inlined = replace(broken_at(20, 1), stack=(*broken_at(6, 1).stack, StackFrame(inner, "helper", "")))
    itself = replace(inlined, stack=inlined.stack[1:], compile_id=CompileId(2, 0))
    known = of_one_process(
        breaks=[broken_at(5, 0), inlined, itself],
        graphs=[graph(0, calls=10), graph(3, (0.5, 0), calls=10), graph(4, (9.0, 3), calls=10)],
        resume_functions=[function for function, _ in made],
        bytecodes=[code for _, code in made],
    )
    costs = costs_of(distinct_breaks(known))
    assert [(each.seconds, len(each.along_with)) for each in costs] == [(5.0, 1)] * 2
    assert seconds_in_all(costs) == 5.0


def test_a_break_that_follows_either_of_two_counts_with_one_of_each() -> None:
    a, b, c = (DistinctBreak((PROCESS,), BREAK, (BREAK,), (counted(number),), ()) for number in (1, 2, 3))
    costs = [
        BreakCost(a, 0.5, 1, along_with=(c,)),
        BreakCost(b, 0.5, 1, along_with=(c,)),
        BreakCost(c, 0.5, 2, along_with=(a, b)),
    ]
    assert [each.seconds for each in costs] == [2.0, 2.0, 2.0]
    assert seconds_in_all(costs) == 2.0
    assert seconds_in_all(costs[:2]) == 2.0
    assert seconds_in_all([BreakCost(a, 0.5, 1), BreakCost(b, 0.5, 1)]) == 4.0


def test_a_line_that_makes_a_list_longer_costs_the_recompiles_for_its_length() -> None:
    line = StackFrame(Place("/home/me/train.py", 4), "step", "SEEN.append(float(x))")
    broke = GraphBreak("Tensor.item()", (line,), None)
    distinct = DistinctBreak((PROCESS,), broke, (broke,), (), ())
    (found,) = costs_of([distinct], frames_recompiled(lengthened_at("/home/me/train.py:4").processes))
    assert (found.recompiles.seconds, found.recompiles.lengthened, found.seconds) == (3.0, "SEEN", None)
    assert effect_and_cost(found).endswith("took 3.00 s (it changes the length of `SEEN`)")
    (other,) = costs_of([distinct], frames_recompiled(lengthened_at("/home/me/train.py:9").processes))
    assert other.recompiles.seconds == 0.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("random.shuffle(order)", 3.0),
        ("order = drawn()", 3.0),
        ("print(order)", 0.0),
        ("random.shuffle(other)", 0.0),
    ],
)
def test_a_line_that_gives_a_list_another_order_costs_the_recompiles_for_its_members(
    text: str, seconds: float
) -> None:
    broke = GraphBreak("skipped", (StackFrame(Place("/home/me/train.py", 4), "step", text),), None)
    again = replace(compiled(1, seconds=3.0, reason="0/0: …"), name="torch_dynamo_resume_in_step_at_4")
    told = RecompileReasons(again.compile_id, (parse_guard_failure("0/0: L['order'][1] == 4"),))
    known = of_one_process(compiles=[replace(compiled(0), name=again.name), again], recompile_reasons=[told])
    distinct = DistinctBreak((PROCESS,), broke, (broke,), (), ())
    (found,) = costs_of([distinct], frames_recompiled(known.processes))
    assert found.recompiles.seconds == seconds


def test_a_list_that_the_line_finds_by_a_variable_is_the_one_that_the_guard_names_by_its_value() -> None:
    failure = parse_guard_failure("0/0: len(L['self'].by_name['loss'].values) == 1")
    assert lengthened_by("self.by_name[name].values.append(x)", failure) == "self.by_name['loss'].values"
    assert (
        lengthened_by("self.values.append(x)", failure) == "self.by_name['loss'].values"
    )  # in a method of it
    assert lengthened_by("self.by_name.update(x)", failure) is None


def test_what_a_line_of_the_same_time_waits_is_no_gain() -> None:
    asleep = GraphBreak("skipped", (StackFrame(Place("a.py", 4), "step", "time.sleep(t)"),), None)
    first = DistinctBreak((PROCESS,), BREAK, (BREAK,), (counted(1),), ())
    waits = DistinctBreak((PROCESS,), asleep, (asleep,), (counted(1),), ())
    assert BreakCost(first, 0.5, 1).waits_at is None
    assert BreakCost(first, 0.5, 1, (waits,)).waits_at == "time.sleep(t)"
    assert effect_and_cost(BreakCost(waits, 0.5, 1)).endswith(
        "fixing it saves at most this, less what `time.sleep(t)` waits: that stays"
    )


def lengthened_at(where: str) -> Recording:
    again = compiled(1, seconds=3.0, reason="0/0: …")
    reason = parse_guard_failure(f"0/0: len(G['SEEN']) == 0  # SEEN.append(float(x))  # {where} in step")
    told = [RecompileReasons(again.compile_id, (reason,))]
    return of_one_process(compiles=[compiled(0), again], recompile_reasons=told)


def counted(number: int) -> Crossing:
    return crossing(graph(number), graph(number + 10))


def test_a_container_is_read_by_another_name_and_with_another_subscript() -> None:
    for line in (
        "return torch.cat(self.keys[layer], dim=0)",
        "for key in kept.keys[0]:",
        "x = cache.keys[n][-1]",
    ):
        assert is_named_in(line, "cache.keys[0]") == ("[-1]" not in line)
    assert is_named_in("y = sum(self.window) / len(self.window)", "self.window")
    assert not is_named_in("return torch.cat(self.values[layer], dim=0)", "cache.keys[0]")


def test_what_follows_several_entries_counts_for_all_where_one_has_no_graph_of_its_own_in_front() -> None:
    """The code behind a break serves both entries of the function: its five calls are those of 1 and of 4."""
    behind, in_front = graph(2, calls=5), graph(3, calls=4)
    without = Crossing(PROCESS, CompileId(1, 0), (), (behind,), (behind,), 0)
    with_one = Crossing(PROCESS, CompileId(1, 1), (in_front,), (behind,), (in_front,), 0)
    assert DistinctBreak((PROCESS,), BREAK, (BREAK,), (without, with_one), ()).crossed == 5
    assert DistinctBreak((PROCESS,), BREAK, (BREAK,), (with_one,), ()).crossed == 4

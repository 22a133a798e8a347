"""What compiling in parts costs: at most what is compiled anew on the smaller side of a break."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.analysis.break_compiles import compile_seconds, seconds_in_parts
from dynamo_core.analysis.break_effects import Crossing, DistinctBreak
from dynamo_core.analysis.recompile_echoes import compile_key
from dynamo_core.model import CompileId, GraphBreak, Process
from support.made import compiled

STREAM = Path("s.log")
BREAK = GraphBreak("print", (), None)


def process_of(*seconds: float, stream: Path = STREAM) -> Process:
    """Its compiles 0/0, 1/0, … took so long."""
    compiles = (
        replace(compiled(0, each), compile_id=CompileId(frame, 0)) for frame, each in enumerate(seconds)
    )
    return Process(stream, compiles=list(compiles))


def crossing(process: Process, before: int, *behind: int, depth: int = 0) -> Crossing:
    resumed = tuple(CompileId(each, 0) for each in behind)
    return Crossing(process, CompileId(before, 0), (), (), None, depth, resumed=resumed)


def in_parts(*crossings: Crossing) -> float:
    processes = tuple({each.process.stream: each.process for each in crossings}.values())
    distinct = DistinctBreak(processes, BREAK, (BREAK,), crossings, ())
    return seconds_in_parts(distinct, compile_seconds(processes), frozenset())


def test_one_graph_takes_at_least_as_long_as_its_larger_part() -> None:
    process = process_of(4.0, 1.0)
    assert in_parts(crossing(process, 0, 1)) == 1.0
    assert in_parts(crossing(process, 1, 0)) == 1.0


def test_nothing_is_compiled_behind_a_break_at_the_end() -> None:
    assert in_parts(crossing(process_of(4.0), 0)) == 0.0


def test_versions_of_one_code_share_what_is_behind_them() -> None:
    process = process_of(4.0, 5.0, 1.0, 2.0)
    shared = crossing(process, 0, 2, 3)
    assert in_parts(shared, replace(shared, compile_id=CompileId(1, 0))) == 3.0


def test_a_loop_is_compiled_in_as_many_parts_as_it_breaks() -> None:
    process = process_of(2.0, 1.0, 1.0)
    assert in_parts(crossing(process, 0, 1), crossing(process, 1, 2)) == 2.0


def test_a_function_that_its_caller_inlines_is_not_compiled_by_itself() -> None:
    process = process_of(1.0, 1.0, 1.0, 1.0)
    assert in_parts(crossing(process, 0, 1, depth=1), crossing(process, 2, 3)) == 3.0


def test_the_backward_graph_is_of_its_compile() -> None:
    process = process_of(4.0, 1.0)
    backward = replace(process.compiles[1], seconds=0.5, is_forward=False)
    process = replace(process, compiles=[*process.compiles, backward])
    assert in_parts(crossing(process, 0, 1)) == 1.5


def test_of_ranks_the_worst_counts() -> None:
    slow = replace(process_of(4.0, 2.0), rank=0)
    quick = replace(process_of(4.0, 1.0, stream=Path("other.log")), rank=1)
    assert in_parts(crossing(quick, 0, 1), crossing(slow, 0, 1)) == 2.0


def test_recompiles_that_the_break_pays_for_are_not_counted_again() -> None:
    process = process_of(4.0, 1.0, 2.0)
    found = DistinctBreak((process,), BREAK, (BREAK,), (crossing(process, 0, 1, 2),), ())
    paid = frozenset({compile_key(STREAM, CompileId(2, 0))})
    assert seconds_in_parts(found, compile_seconds([process]), paid) == 1.0

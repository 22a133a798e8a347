"""When a frame was compiled again, as far as it is known."""

from dataclasses import replace

from dynamo_core.analysis.compile_records import CompileRecords
from dynamo_core.analysis.recompiles import Moment, moment_of
from dynamo_core.model import CallTimes, CompileId, Frame, Graph, Place, ProcessInfo, Recording
from support.made import FIRST, S, called, of_one_process

AGAIN = CompileId(0, 1)
FRAME = Frame("f", Place("x.py", 2), "compiled", None, True, False, AGAIN, ended_ns=12 * S, seconds=2.0)


def times(*began: int, calls: int | None = None) -> CallTimes:
    known = called(began, unit=S)
    return known if calls is None else replace(known, calls=calls, samples=())


def recording(frame: Frame, first: CallTimes | None) -> Recording:
    graph = Graph(1, FIRST, 0, None, "eager", 1, times=first)
    return of_one_process(None, info=ProcessInfo(pid=1, began_ns=4 * S), frames=[frame], graphs=[graph])


def moment(frame: Frame, first: CallTimes | None) -> Moment:
    made = recording(frame, first)
    return moment_in(made, AGAIN)


def moment_in(made: Recording, compile_id: CompileId) -> Moment:
    (process,) = made.processes
    return moment_of(compile_id, CompileRecords(process), made)


def test_a_compile_began_its_own_time_before_it_ended_in_the_call_behind_those_before_it() -> None:
    assert moment(FRAME, times(5, 6, 7, 20)) == Moment(6.0, 4, None)
    assert moment(replace(FRAME, thread="worker"), times(5)) == Moment(6.0, 2, "worker")


def test_what_is_not_known_is_not_told() -> None:
    assert moment(FRAME, times(5, calls=9)).call is None  # the eight others may be on either side
    assert moment(FRAME, None).call is None
    assert moment(replace(FRAME, ended_ns=None), times(5)) == Moment(None, None, None)
    assert moment_in(recording(FRAME, None), CompileId(7, 0)) == Moment(None, None, None)
    without_graphs = of_one_process(None, info=ProcessInfo(pid=1, began_ns=4 * S), frames=[FRAME])
    assert moment_in(without_graphs, AGAIN) == Moment(6.0, None, None)

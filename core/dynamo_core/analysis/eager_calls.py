"""How many calls of a frame at torch's recompile limit ran eager.

They are counted for all frames of a process together (`capture/probes/calls_at_limit.py`). That is this
frame's number where no other was compiled, else at most so many: what a refused frame calls is not compiled
either. Without that count, what goes on behind a graph break was called at most as often as the graph before
the break, whose calls are counted: what stands at the break may raise, or return.
"""

from itertools import chain

from ..model import CompileId, Graph
from .by_compile import frame_of
from .recompiles import FrameRecompiles, is_recompile_limit
from .words import number


def how_often_eager(frame: FrameRecompiles) -> str:
    """`24 times`, `at most 24 times, as the graph before it ran 32 times`, or that it was not recorded."""
    counted = _counted(frame)
    if counted is not None:
        return counted
    versions, entered = frame.versions_called, times_entered(frame)
    if versions is None or entered is None or entered < sum(versions):
        return "how often was not recorded"
    eager = number(entered - sum(versions), "time")
    return f"at most {eager}, as the graph before it ran {number(entered, 'time')}"


def _counted(frame: FrameRecompiles) -> str | None:
    """What was counted, where no other frame of the process was refused."""
    process, limit = frame.process.entire, frame.limit
    if process.calls_at_limit is None or limit is None or limit.compile_id is None:
        return None
    refused = {frame_of(each.compile_id) for each in process.compiles if is_recompile_limit(each.fail_reason)}
    if refused != {frame_of(limit.compile_id)}:
        return None
    compiled = {frame_of(each.compile_id) for each in process.compiles}
    most = "at most " if compiled != refused else ""
    return f"{most}{number(process.calls_at_limit, 'time')}"


def times_entered(frame: FrameRecompiles) -> int | None:
    """How often, at most, the rest of a function behind a break was called; None where nothing tells.

    It follows where the graphs before lead there and nowhere else (a branch goes on in one of two functions),
    and each compiled version has one graph whose calls are counted.
    """
    records, compile_id = frame.records, frame.compiles[0].compile_id
    codes = records.codes.of_frame(compile_id)
    graphs = records.compiled_graphs.of_frame(compile_id)
    fingerprints = {code.fingerprint for code in chain(*codes.values())}
    if len(fingerprints) != 1 or set(codes) != set(graphs) or any(len(each) > 1 for each in graphs.values()):
        return None
    (fingerprint,) = fingerprints
    makers = records.makers.get(fingerprint, {})
    if len(records.frames_of_code[fingerprint]) > 1 or any(len(records.makes[each]) > 1 for each in makers):
        return None
    calls = [_calls(records.compiled_graphs.get(each, ()), each) for each in makers]
    known = [each for each in calls if each is not None]
    return sum(known) if calls and len(known) == len(calls) else None


def _calls(graphs: "list[Graph] | tuple[()]", compile_id: CompileId | None) -> int | None:
    """The calls of the one graph before the break; None where some of them did not come to the break."""
    if compile_id is None or len(graphs) != 1:
        return None
    (graph,) = graphs
    return None if graph.times is None or graph.times.raised else graph.calls

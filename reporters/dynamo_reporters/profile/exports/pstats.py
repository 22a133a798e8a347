"""The time report as a Python profile, for `python -m pstats`, snakeviz and whatever else reads those.

Format: what cProfile.Profile.dump_stats writes and pstats.Stats.load_stats reads (Lib/cProfile.py,
snapshot_stats), a marshalled {(file, line, name): (primitive calls, calls, own, cumulative, callers)} with
callers {(file, line, name): (calls, primitive calls, own, cumulative)}. What has no place in a file is at
("~", 0), as built-in functions are.
"""

import marshal
from dataclasses import field

from dynamo_core.analysis.time.phases import Span, spans
from dynamo_core.analysis.time.wall import COMPILING, GRAPHS, Part, wall_time
from dynamo_core.analysis.words import process_title
from dynamo_core.model import Process, Recording
from dynamo_core.shared.quick_dataclass import dataclass

from .names import INHERITED, CompileNames, Named, graph_name, process_name

_Function = tuple[str, int, str]
_Stack = tuple[_Function, ...]  # outermost first


@dataclass
class _Times:
    calls: int = 0
    primitive: int = 0
    own: float = 0.0
    cumulative: float = 0.0

    def add(self, calls: int, own: float, cumulative: float, *, is_recursive: bool = False) -> None:
        self.calls += calls
        self.own += own
        if not is_recursive:
            self.primitive += calls
            self.cumulative += cumulative


@dataclass
class _Entry(_Times):
    callers: dict[_Function, _Times] = field(default_factory=dict)


class _Stats:
    """What is called, with whom it was called by."""

    def __init__(self) -> None:
        self._entries: dict[_Function, _Entry] = {}

    def add(self, calls: int, own: float, cumulative: float, stack: _Stack, function: _Function) -> None:
        """Note calls of a function by the last of the stack."""
        is_recursive = function in stack
        entry = self._entries.setdefault(function, _Entry())
        entry.add(calls, own, cumulative, is_recursive=is_recursive)
        if stack:
            by = entry.callers.setdefault(stack[-1], _Times())
            by.add(calls, own, cumulative, is_recursive=is_recursive)

    def marshalled(self) -> bytes:
        return marshal.dumps(
            {
                function: (
                    entry.primitive,
                    entry.calls,
                    entry.own,
                    entry.cumulative,
                    {
                        caller: (by.calls, by.primitive, by.own, by.cumulative)
                        for caller, by in entry.callers.items()
                    },
                )
                for function, entry in self._entries.items()
            }
        )


def to_pstats(recording: Recording) -> bytes:
    """Each process calls the parts of its wall time; compiling calls its phases, and the graphs are called.

    The own times of a process add up to its wall time, as far as calls of graphs do not overlap. Where its
    begin is not known, as in a plain trace, and of a selected part, they add up to what is there.
    """
    stats = _Stats()
    for process in recording.processes:
        _Profile(stats, process, recording).add()
    if not recording.processes:
        stats.add(0, 0.0, 0.0, (), _nowhere("no process that imported torch"))
    return stats.marshalled()


class _Profile:
    """Adds one process to the statistics."""

    def __init__(self, stats: _Stats, process: Process, recording: Recording) -> None:
        self._stats = stats
        self._process = process
        self._title = process_title(process, recording)
        self._names = CompileNames(process)
        self._root = _nowhere(process_name(process))
        self._wall = wall_time(process, recording) if process.whole is None else None

    def add(self) -> None:
        """Add all of it, the parts first; the remainder is one of them."""
        if self._wall is None:
            known = self._compiles((self._root,)) + self._graphs((self._root,))
            self._stats.add(1, 0.0, known, (), self._root)
            return
        for part in self._wall.parts:
            self._part(part)
        self._stats.add(1, 0.0, self._wall.seconds, (), self._root)

    def _part(self, part: Part) -> None:
        if part.seconds is None:
            return
        estimated = " (estimated)" if part.basis == "sampled" else ""
        function = _nowhere(part.name + estimated + self._title)
        own = seconds = max(part.seconds, 0.0)  # the clock can be set back
        if part.name == COMPILING:
            own = max(seconds - self._compiles((self._root, function)), 0.0)
        elif part.name == GRAPHS:
            self._graphs((self._root, function))
            own = 0.0
        self._stats.add(1, own, seconds, (self._root,), function)

    def _compiles(self, stack: _Stack) -> float:
        """Add what was compiled; how long that took."""
        seconds = 0.0
        for tree in spans(self._process.phases):
            named = self._names.of(tree)
            seconds += self._phase(tree, stack, _function(named, self._title))
        return seconds

    def _phase(self, span: Span, stack: _Stack, function: _Function) -> float:
        """Add a phase and those in it; the own time of all of them."""
        own = span.own_ns / 1e9
        self._stats.add(1, own, max(span.total_ns, 0) / 1e9, stack, function)
        inner = (*stack, function)
        return own + sum(self._phase(child, inner, _nowhere(child.phase.name)) for child in span.children)

    def _graphs(self, stack: _Stack) -> float:
        """Add the calls of the graphs; how long those took."""
        seconds = 0.0
        for graph in self._process.graphs:
            named = Named(graph_name(graph), graph.frame_place)
            seconds += self._calls(named, graph.calls, graph.host_seconds, stack)
            if graph.backward is not None:
                named = Named(graph_name(graph, is_backward=True), graph.frame_place)
                seconds += self._calls(named, graph.backward.calls, graph.backward.seconds, stack)
        if self._process.whole is None:
            inherited, calls = self._process.inherited_seconds, self._process.inherited_calls
            seconds += self._calls(Named(INHERITED, None), calls, inherited, stack)
        return seconds

    def _calls(self, named: Named, calls: int | None, seconds: float | None, stack: _Stack) -> float:
        if not calls or seconds is None:
            return 0.0
        self._stats.add(calls, seconds, seconds, stack, _function(named, self._title))
        return seconds


def _function(named: Named, title: str) -> _Function:
    if named.place is None:
        return _nowhere(named.name + title)
    return named.place.file, named.place.line, named.name + title


def _nowhere(name: str) -> _Function:
    return "~", 0, name

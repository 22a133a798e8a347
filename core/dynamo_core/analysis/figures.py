"""What several findings rest on, each worked out once for a recording."""

from dataclasses import replace
from functools import cached_property

from ..model import Process, Recording
from .break_costs import BreakCost, break_cost
from .break_effects import distinct_breaks, is_library
from .recompiles import FrameRecompiles, frames_recompiled
from .time.graph_times import GraphTime, graph_times
from .time.wall import REST, WallTime, wall_time


class Figures:
    """The figures of one recording. What is expensive is worked out when it is first asked for."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._walls: dict[int, WallTime | None] = {}
        self._outside: dict[int, float | None] = {}

    @cached_property
    def breaks(self) -> list[BreakCost]:
        """Every distinct break with its cost, in the order of the findings."""
        return sorted(map(break_cost, distinct_breaks(self.recording)), key=_rank_of_break)

    @cached_property
    def recompiled(self) -> list[FrameRecompiles]:
        """Every frame that was compiled again."""
        return frames_recompiled(self.recording)

    @cached_property
    def graph_times(self) -> list[GraphTime]:
        """Every graph whose calls were counted."""
        return graph_times(self.recording)

    @cached_property
    def _graph_times_by_process(self) -> dict[int, list[GraphTime]]:
        found: dict[int, list[GraphTime]] = {}
        for each in self.graph_times:
            found.setdefault(id(each.process), []).append(each)
        return found

    def graph_times_of(self, process: Process) -> list[GraphTime]:
        """Those of one process."""
        return self._graph_times_by_process.get(id(process), [])

    def wall(self, process: Process) -> WallTime | None:
        """The wall time of a process, as frames, compiles and calls tell it.

        Without torch's phases, which only some reports read, so that every report has the same findings.
        """
        if id(process) not in self._walls:
            entire = replace(process.entire, phases=[], parallel_phases=[])
            self._walls[id(process)] = wall_time(entire, self.recording)
        return self._walls[id(process)]

    def outside_seconds(self, process: Process) -> float | None:
        """What a process spent neither compiling nor inside of compiled graphs, nor on starting and ending.

        It is the most that compiling more of the program can win. None where it was not recorded.
        """
        if id(process) not in self._outside:
            self._outside[id(process)] = self._outside_of(process)
        return self._outside[id(process)]

    def _outside_of(self, process: Process) -> float | None:
        wall = self.wall(process)
        rest = None if wall is None else wall.part(REST)
        if rest is None or rest.seconds is None:
            return None
        backward = sum(c.seconds or 0.0 for c in process.entire.compiles if not c.is_forward)
        return max(0.0, rest.seconds - backward)


def _rank_of_break(cost: BreakCost) -> tuple[bool, bool, bool, float]:
    """As findings are ranked: the user's own, frames that run eager, then by what fixing it saves."""
    each, took = cost.distinct, cost.seconds
    in_library = each.first.place is not None and is_library(each.first.place)
    return in_library, not each.frames_fell_back, took is None, -(took or 0.0)

"""`Case`: a recording that was read, with what is worked out from it: the argument of every report on one."""

from dataclasses import replace
from functools import cached_property

from .analysis.figures import Figures
from .analysis.ranks import Ranks, compare_ranks
from .analysis.ranks.members import ranks_of
from .analysis.summary import Summary, summarize, unrecorded
from .analysis.time.phases import CompileSplit, split
from .analysis.time.wall import WallTime, wall_time
from .analysis.verdict import verdict
from .analysis.words import number
from .findings import Finding, find
from .model import Process, Recording
from .shared.shown_in_notebook import bullets, numbered, paragraph, title
from .shared.shown_paths import shown_path

_SHOWN_IN_NOTEBOOK = 8  # findings
_PARTIAL = "It is partial: the run still goes on, was killed, or records are lost or damaged (`problems`)."


class Case:
    """A recording and its figures. Each figure is worked out once, when it is first asked for."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._walls: dict[int, WallTime | None] = {}
        self._compile_splits: dict[int, CompileSplit | None] = {}
        self._alone: dict[int, Case] = {}

    def __repr__(self) -> str:
        return f"<Case of {self.recording.path}: {verdict(self.recording, self.summary)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the counts, what is missing, and the findings, the worst first."""
        shown = self.findings[:_SHOWN_IN_NOTEBOOK]
        more = len(self.findings) - len(shown)
        return (
            title(verdict(self.recording, self.summary))
            + paragraph(f"`{shown_path(str(self.recording.path))}`")
            + paragraph(_PARTIAL if self.is_partial else "")
            + numbered(finding._repr_html_() for finding in shown)
            + paragraph(f"… and {number(more, 'more finding')} in `findings`" if more else "")
            + bullets(f"not recorded: {what} ({why})" for what, why in self.unrecorded.items())
        )

    @property
    def processes(self) -> list[Process]:
        """What each process recorded: frames, graphs, breaks, compiles, guards, calls."""
        return self.recording.processes

    @property
    def problems(self) -> list[str]:
        """What could not be recorded or read, and why: a sentence each."""
        return self.recording.problems

    @property
    def is_partial(self) -> bool:
        """Whether the run still goes on, was killed, or records are lost or damaged."""
        return self.recording.is_partial

    @cached_property
    def summary(self) -> Summary:
        """The counts over all processes, each as torch counts it; None where it was not recorded."""
        return summarize(self.recording)

    @cached_property
    def figures(self) -> Figures:
        """What findings rest on: costs of breaks, recompiled frames, times of graphs."""
        return Figures(self.recording)

    @cached_property
    def findings(self) -> list[Finding]:
        """What is in the way, what is worth most first: the same on every surface."""
        return find(self.recording, self.figures)

    @cached_property
    def unrecorded(self) -> dict[str, str]:
        """What was not recorded in some process, and why, by its probe's name or as counts have it."""
        return unrecorded(self.recording)

    @cached_property
    def ranks(self) -> Ranks:
        """The ranks of a distributed run beside each other."""
        return compare_ranks(self.recording)

    @cached_property
    def has_ranks(self) -> bool:
        """Whether there are several ranks, which can be compared."""
        return len(ranks_of(self.recording)) > 1

    def wall(self, process: Process) -> WallTime | None:
        """The wall time of a process in its parts, with torch's phases; None where it was not recorded."""
        if id(process) not in self._walls:
            self._walls[id(process)] = wall_time(process, self.recording, self.compile_split(process.entire))
        return self._walls[id(process)]

    def compile_split(self, process: Process) -> CompileSplit | None:
        """The compile time of a process by category; None where torch's phases were not recorded."""
        if id(process) not in self._compile_splits:
            self._compile_splits[id(process)] = split(process)
        return self._compile_splits[id(process)]

    def alone(self, process: Process) -> "Case":
        """The case as if it had this process only."""
        if len(self.processes) == 1 and self.processes[0] is process:
            return self
        if id(process) not in self._alone:
            self._alone[id(process)] = Case(replace(self.recording, processes=[process]))
        return self._alone[id(process)]

"""`Case`: a recording that was read, with what is worked out from it: the argument of every report on one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from .analysis.excerpt import Excerpt, excerpt
from .analysis.figures import Figures
from .analysis.ranks import Ranks, compare_ranks
from .analysis.ranks.members import ranks_of
from .analysis.summary import Summary, summarize, unrecorded
from .analysis.time.phases import CompileSplit, split
from .analysis.time.wall import WallTime, across_ranks, wall_time
from .analysis.verdict import verdict
from .analysis.words import number
from .findings import (
    Action,
    Draft,
    Figure,
    Finding,
    Remedy,
    actions_of,
    drafts_of,
    findings_of,
    is_context,
    saved_together,
    without_remedies_in_use,
)
from .findings.finding import NOT_RECORDED
from .findings.in_cells import action_in_cell, finding_in_cell
from .findings.since import Since
from .model import Process, Recording
from .shared.shown_in_notebook import bullets, numbered, paragraph, title
from .shared.shown_paths import shown_path

_SHOWN_IN_NOTEBOOK = 8  # findings
_PARTIAL = "It is partial: the run still goes on, was killed, or records are lost or damaged (`problems`)."


class Case:
    """A recording and its figures. Each figure is worked out once, when it is first asked for."""

    def __init__(self, recording: Recording, since: Since | None = None) -> None:
        """`since` is what became of the findings of the run before, where a report is to say that."""
        self.recording = recording
        self.since = since
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
        return [finding_in_cell(each) for each in self.found]

    @cached_property
    def found(self) -> list[Finding]:
        """The findings as the analyses make them, whatever their lines are in."""
        return without_remedies_in_use(findings_of(self._drafts), self.recording)

    @cached_property
    def _drafts(self) -> dict[str, list[Draft]]:
        return drafts_of(self.figures)

    @cached_property
    def actions(self) -> list[Action]:
        """What to do, what saves most first; each cures one finding or more. `context` is in none of them."""
        context = {finding.identity for finding in self.context}
        actions = actions_of([each for each in self.found if each.identity not in context], self._saved)
        return [action_in_cell(each, self._by_identity[each.cures[0]]) for each in actions]

    @cached_property
    def excerpt(self) -> Excerpt | None:
        """The source around the place of the first action; None where it has none, or it was not recorded."""
        first = next(iter(self.actions), None)
        found = self.cured_by(first)[0] if first is not None else None
        if found is None or found.place is None:
            return None
        return excerpt(self.processes, found.place, found.evidence.compile_ids)

    @cached_property
    def context(self) -> list[Finding]:
        """The findings that are true of any short run."""
        walls = [self.figures.wall(process) for process in self.processes]
        run_seconds = max((wall.seconds for wall in walls if wall is not None), default=None)
        return [finding for finding in self.findings if is_context(finding, run_seconds)]

    @property
    def action_numbers(self) -> dict[str, int]:
        """The number of the action that cures each finding, by its identity."""
        return {identity: action.number for action in self.actions for identity in action.cures}

    def cured_by(self, action: Action) -> list[Finding]:
        """The findings that an action cures, the worst first."""
        return [self._by_identity[identity] for identity in action.cures]

    @cached_property
    def _by_identity(self) -> dict[str, Finding]:
        return {finding.identity: finding for finding in self.findings}

    @property
    def findings_by_action(self) -> list[Finding]:
        """All findings in the order of the actions that cure them, then what is true of any short run.

        The first remedy of each is that of its action.
        """
        cured = [
            _with_first(action.remedy, finding)
            for action in self.actions
            for finding in self.cured_by(action)
        ]
        return cured + self.context

    def _saved(self, findings: Sequence[Finding]) -> Figure:
        """What it saves at most to fix all of them, and never more than their processes took."""
        drafts = [draft for finding in findings for draft in self._drafts.get(finding.identity, ())]
        if not drafts:
            return NOT_RECORDED
        saved = saved_together(drafts)
        processes = {id(process): process for draft in drafts for process in draft.processes}.values()
        walls = [(process, self.figures.wall(process)) for process in processes]
        took = [(process, wall.seconds) for process, wall in walls if wall is not None]
        if saved.seconds is None or len(took) < len(processes):
            return saved
        return replace(saved, seconds=min(saved.seconds, across_ranks(took)))

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


def _with_first(remedy: Remedy | None, finding: Finding) -> Finding:
    """The finding with a remedy before its others; of an edit, as its own line has it."""
    if remedy is None or remedy.change is None:
        return finding
    own = [each for each in finding.remedies if each.change == remedy.change]
    others = [each for each in finding.remedies if each.change != remedy.change]
    first = own if remedy.change.edit is not None else [remedy]
    return replace(finding, remedies=(*first, *others))

"""One run with the first remedy of every finding: what goes into it, and which findings each remedy cured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ..findings import Finding, Remedy
from ..findings.tried import GONE, STILL_THERE, outcome_of, outcomes
from ..launch.program import Program
from ..model import Place, Recording, function_of
from ..remedies.rules import Change
from ..shared.quick_dataclass import dataclass
from .changes import SourceChange, can_be_tried, patches, source_change
from .judging import Judgement, ObservedRun
from .trial import Fix, Patch, Trial

_MODULE = "<module>"


@dataclass(frozen=True)
class Candidate:
    """A remedy for the finding of a fix; `edited` is what it edits by itself, empty where no file.

    `called_at` are the calls of torch.compile in which it replaces arguments.
    """

    fix: Fix
    remedy: Remedy
    change: Change
    edited: tuple[Patch, ...]
    called_at: tuple[Place, ...] = ()

    @classmethod
    def kept(cls, fix: Fix, trial: Trial) -> "Candidate":
        """The remedy that a trial has shown to cure."""
        assert trial.remedy.change is not None
        return cls(fix, trial.remedy, trial.remedy.change, trial.patches, trial.called_at)

    @property
    def source_change(self) -> SourceChange:
        """The remedy as edits of source."""
        return source_change(self.fix.finding.place, self.change, self.called_at)

    def trial(self, judged: Judgement, before: int, run: ObservedRun, *, is_shared: bool) -> Trial:
        """The trial of the remedy in a run, `is_shared` with others; the finding was met `before` times."""
        return Trial(
            self.remedy,
            judged.verdict,
            judged.reason,
            before,
            judged.after,
            (run.result,),
            self.edited,
            self.called_at,
            is_shared=is_shared,
        )


def candidates(fixes: Sequence[Fix], program: Program, recording: Recording) -> list[Candidate]:
    """The first remedy of each finding that fits and that no frame traced again speaks against, each once.

    A finding that is the consequence of another one has none: what cures that one may cure it.
    """
    findings = [fix.finding for fix in fixes]
    identities = {finding.identity for finding in findings}
    found: dict[tuple[Change, Place | None], Candidate] = {}
    for fix in fixes:
        if fix.finding.because_of not in identities:
            for each in _fitting(fix, program, partial(compile_calls, recording, findings)):
                place = fix.finding.place if each.change.edit is not None else None
                found.setdefault((each.change, place), each)
                break
    return list(found.values())


def _fitting(
    fix: Fix, program: Program, calls_for: Callable[[Change], tuple[Place, ...]]
) -> Iterator[Candidate]:
    place = fix.finding.place
    for remedy in fix.finding.remedies:
        change = remedy.change
        if change is None or not can_be_tried(change) or remedy.tried == STILL_THERE:
            continue
        if change.edit is None or place is not None:
            called_at = calls_for(change)
            edited = patches(program, [source_change(place, change, called_at)]) or ()
            if edited or change.edit is None:
                yield Candidate(fix, remedy, change, edited, called_at)


def compile_calls(recording: Recording, findings: Sequence[Finding], change: Change) -> tuple[Place, ...]:
    """The calls of torch.compile whose arguments the change replaces.

    Those for the functions of the findings with this change; all calls, where one of them has none.
    """
    if not change.arguments:
        return ()
    calls: dict[str, dict[Place, None]] = {}
    for frame in (frame for process in recording.processes for frame in process.frames):
        if frame.compiled_by is not None:
            calls.setdefault(function_of(frame.name), {})[frame.compiled_by.place] = None
    wanted = {function_of(each.function) for each in findings if change in [r.change for r in each.remedies]}
    functions = wanted if wanted <= calls.keys() else calls
    return tuple(
        dict.fromkeys(place for name, of_it in calls.items() if name in functions for place in of_it)
    )


def has_cured(candidate: Candidate, others: Sequence[Candidate], recording: Recording) -> bool:
    """Whether its finding, gone in a run with the `others`, is gone because of this remedy.

    `recording` is of a run in which frames were traced again with single changes.
    """
    if candidate.remedy.tried == GONE:
        return True
    finding = candidate.fix.finding
    tried = [each for process in recording.processes for each in process.interventions.tried_changes]
    found = outcomes(finding.kind, finding.place, finding.evidence.compile_ids, tried)
    return all(_has_no_effect(other, finding, found) for other in others if other is not candidate)


def _has_no_effect(other: Candidate, finding: Finding, found: Mapping[str, str]) -> bool:
    """Whether a remedy for another finding cannot have cured this one."""
    if other.change.edit is None:
        return outcome_of(other.change, dict(found)) == STILL_THERE
    elsewhere = other.fix.finding
    if elsewhere.function == _MODULE:
        return False
    return finding.kind == "graph break" or _function(elsewhere) != _function(finding)


def _function(finding: Finding) -> tuple[str | None, str | None]:
    return (None if finding.place is None else finding.place.file), finding.function


def cause_of(fix: Fix, kept: Sequence[Fix]) -> Fix | None:
    """The fix among `kept` whose remedy has cured this finding as well; None where that is not known."""
    changes = {each.change for each in fix.finding.remedies[:1] if each.change is not None}
    for other in kept:
        assert other.kept is not None
        change = other.kept.remedy.change
        is_consequence = fix.finding.because_of == other.finding.identity
        if is_consequence or (change in changes and change is not None and change.edit is None):
            return other
    return None

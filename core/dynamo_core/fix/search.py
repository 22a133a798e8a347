"""Try the remedies of a program's findings, and keep those that are shown to cure.

Each run is a process of its own, without standard input. The first remedies of all findings are tried in one
run; what that does not prove is tried one after the other. A finding that another's remedy also cures is not
tried again.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from ..analysis.time.steps import Steps, find_steps
from ..bench.measured import read_output
from ..case import Case
from ..findings import CONTENTS, OF_THE_COMPILER, Finding, Remedy
from ..findings.kinds import unseen_kinds
from ..findings.tried import STILL_THERE
from ..launch.process import Unattended
from ..launch.run import Outcome, Request, record, seconds_of_children
from ..model import Recording
from ..recording.read import read
from ..remedies.rules import Change
from ..shared.errors import CannotRecord, DynamoError, NothingSelected, NotMeasured, os_errors_as
from ..shared.quick_dataclass import dataclass
from ..shared.settings import VERIFY_REPORT
from .changes import (
    can_be_tried,
    environment_of,
    patches,
    source_change,
    why_not_edited,
    with_change,
    with_eagers_random_numbers,
)
from .further import LEFT_TO_PYTHON, further_remedies
from .joint import Candidate, candidates, cause_of, compile_calls, has_cured
from .judging import (
    ComparedFindings,
    ObservedRun,
    difference_in_output,
    judge,
    judge_together,
    lines_compared,
    program_stderr,
    times_met,
    total_times,
)
from .known_trials import KnownTrials
from .trial import KEPT, Fix, Fixes, Patch, RunResult, Trial, beside_eager, captured, comparable_step, overlay

_LONGEST_LINE = 100  # characters of a remedy's text in the progress line
_BASELINE_RUNS = 2  # two, to see what differs from run to run without any remedy
_MOST_UNCHANGED_RUNS = 4  # with those made again since a number differed
_RUNS_BEFORE_SLOWER = 2  # a second run rules out that the machine was busy for a moment
_SHARE_OF_TRIALS = 0.25  # of the budget, which what is tried on frames in the first run may take
_LEAST_TIME = 120.0  # seconds: a run may take this long, the first one the budget, others ten times as long

Announce = Callable[[str, int], None]  # gets what runs now, and how many runs are done


@dataclass(frozen=True)
class Plan:
    """What to fix, the folder for its runs, and the budget: `most_runs` and `seconds`.

    With `only`, just the findings of these identities are fixed. `numbers` are those of the actions that a
    recording of the program has, by the identities of what they cure.
    """

    request: Request
    folder: Path
    most_runs: int
    seconds: float
    only: tuple[str, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)

    def tried(self) -> Request:
        """The program as it is, with changes tried on its frames for a share of the budget at most."""
        settings = self.request.settings
        budget = min(settings.try_budget, self.seconds * _SHARE_OF_TRIALS)
        return replace(self.request, settings=settings._replace(try_changes=True, try_budget=budget))


_IDENTITY = re.compile(r"(.+)-[0-9a-f]{12}")


def refuse_unknown(identities: Sequence[str], findings: Sequence[Finding] | None = None) -> None:
    """NothingSelected for an identity that no finding of the compiler's has, or none of `findings`."""
    kinds = {kind.replace(" ", "-") for kind in OF_THE_COMPILER}
    known = [] if findings is None else [each.identity for each in findings if each.kind in OF_THE_COMPILER]
    for identity in identities:
        form = _IDENTITY.fullmatch(identity)
        if form is None or form[1] not in kinds:
            raise NothingSelected(
                f"--finding {identity}: no finding that has remedies is called so; "
                "`dynamo explain --format json` has the identities, such as graph-break-0123456789ab"
            )
        if findings is not None and identity not in known:
            there = f"it has {', '.join(known)}" if known else "it has no findings of the compiler's"
            raise NothingSelected(f"--finding {identity}: the program has no such finding; {there}")


class BudgetSpent(Exception):
    """No further run is allowed."""


def fix(plan: Plan, announce: Announce) -> Fixes:
    """Search for fixes. NotMeasured where a run leaves nothing to read; Ctrl-C ends the search early."""
    return _Search(replace(plan, request=with_eagers_random_numbers(plan.request)), announce).fixes()


class _Search:
    def __init__(self, plan: Plan, announce: Announce) -> None:
        self._plan = plan
        self._announce = announce
        self._began = time.monotonic()
        self._done = 0
        self._first_seconds: float | None = None
        self._baseline: list[ObservedRun] = []
        self._known: KnownTrials | None = None
        self._first: Case | None = None
        self._first_steps: Steps | None = None
        self._last: Recording | None = None
        self._tried: dict[tuple[object, ...], ObservedRun] = {}  # by what was changed

    def fixes(self) -> Fixes:
        """Run the program unchanged, then with each remedy, and judge which are cures."""
        for number in range(_BASELINE_RUNS):
            what = f"the program as it is, {number + 1} of {_BASELINE_RUNS}"
            # Only the first has remedies tried on its frames: the other is timed without.
            request = self._plan.tried() if number == 0 else self._plan.request
            self._baseline.append(self._run(what, request))
            refuse_unknown(self._plan.only, self._baseline[0].findings)
        assert self._first is not None
        processes = self._first.processes
        self._known = KnownTrials(self._plan.request, [each.torch_version for each in processes])
        result = Fixes(
            self._plan.request.program.name,
            tuple(each.result for each in self._baseline),
            self._numbered(self._first),
            steps=self._plan.request.settings.stop_after,
            lines_compared=lines_compared(self._baseline),
            unseen=tuple(sorted(self._baseline[0].unseen)),
            by_hand=tuple(_advised_beside(self._first)),
        )
        try:
            self._prove(result)
        except BudgetSpent as spent:
            result.stopped = str(spent)
        except KeyboardInterrupt:
            result.stopped = "it was interrupted"
        result.baseline = tuple(each.result for each in self._baseline)
        result.withdraw_lines_that_never_ran()
        return result

    def _is_wanted(self, finding: Finding) -> bool:
        return finding.kind in OF_THE_COMPILER and (
            not self._plan.only or finding.identity in self._plan.only
        )

    def _prove(self, result: Fixes) -> None:
        """Try the remedies of all findings at once, then those that are left, and all that is kept."""
        result.together = self._try_at_once(result)
        for fix in result.fixes:
            if not fix.is_proven:
                self._try_remedies(fix, result.fixes)
        together = () if result.together is None else result.together.runs
        if result.together is None or any(fix.kept and fix.kept.runs != together for fix in result.fixes):
            result.together = self._try_together(result.fixes)
            self._keep_what_holds_together(result)

    def _numbered(self, case: Case) -> list[Fix]:
        """The findings to fix, by the numbers of the actions that cure them; those of the plan first."""
        numbers = dict(self._plan.numbers)
        for action in case.actions:
            known = [numbers[identity] for identity in action.cures if identity in numbers]
            further = max(numbers.values(), default=0) + 1
            numbers = dict.fromkeys(action.cures, known[0] if known else further) | numbers
        found = [
            Fix(numbers[finding.identity], finding)
            for finding in case.findings_by_action
            if finding.identity in numbers and self._is_wanted(finding)
        ]
        return sorted(found, key=lambda fix: fix.number)

    def _try_at_once(self, result: Fixes) -> Trial | None:
        """Try the first remedies of all findings in one run, beside eager, and keep those that it proves.

        None where they do harm together, or where not all of them are proven so.
        """
        assert self._first is not None
        program, recording = self._plan.request.program, self._first.recording
        tried = candidates(result.fixes, program, recording)
        if not tried or any(self._known_trial(each.fix.finding, each.remedy) for each in tried):
            return None
        together = self._run_together("the first remedy of each finding, beside eager", tried)
        if together is None:
            return None
        run, edited = together
        judged = judge_together(self._baseline, run, ())
        before = total_times(self._baseline[0].findings)
        does_no_harm = judged.verdict == "does not cure"
        if judged.verdict in KEPT or (does_no_harm and len(tried) == 1):
            self._keep_what_is_proven(tried, run, result.fixes)
        elif len(tried) == 1:
            tried[0].fix.trials.append(tried[0].trial(judged, before, run, is_shared=False))
        judged = judge_together(self._baseline, run, _cured_alone(result.fixes))
        trial = Trial(
            tried[0].remedy, judged.verdict, judged.reason, before, judged.after, (run.result,), edited
        )
        result.further_runs.append(run.result)
        return trial if all(each.fix.kept for each in tried) else None

    def _keep_what_is_proven(
        self, tried: Sequence[Candidate], run: ObservedRun, fixes: Sequence[Fix]
    ) -> None:
        """Keep each remedy whose own finding is gone in a run with all of them, and not by another one.

        What it says of one may be another's doing; that it is slower, also that of comparing with eager. Then
        it is no trial of that one.
        """
        assert self._first is not None
        is_shared = len(tried) > 1
        for each in tried:
            is_edit = each.change.edit is not None
            judged = judge(each.fix.finding, self._baseline, run, is_edit=is_edit)
            is_proven = judged.verdict == "cures" and has_cured(each, tried, self._first.recording)
            is_its_own = not is_shared and judged.verdict != "is slower"
            if is_proven or is_its_own or judged.verdict == "does not cure":
                before = times_met(each.fix.finding, self._baseline[0].findings)
                trial = each.trial(judged, before, run, is_shared=is_shared)
                each.fix.trials.append(trial)
                each.fix.kept = trial if is_proven else None
        kept = [fix for fix in fixes if fix.kept is not None]
        compared = ComparedFindings(self._baseline, run.findings)
        for fix in fixes:
            if not fix.is_proven and not compared.times_left(fix.finding):
                fix.cured_by = cause_of(fix, kept)
        for fix in kept:
            cured = {each.finding.identity for each in fixes if each is fix or each.cured_by is fix}
            if self._known is not None and fix.kept is not None:
                self._known.put(fix.finding, fix.kept, frozenset(cured))

    def _try_remedies(self, fix: Fix, fixes: Sequence[Fix]) -> None:
        """Try remedies until one cures; else keep the one that helps most, if any."""
        known = [trial.remedy.change for trial in fix.trials]
        for remedy in (*fix.finding.remedies, *further_remedies(fix.finding)):
            if remedy.change is None or not can_be_tried(remedy.change) or remedy.change in known:
                continue
            known.append(remedy.change)
            fix.kept = _most_helpful(fix.trials)  # should the budget be spent in the next trial
            trial, cured = self._known_or_tried(fix.finding, remedy, remedy.change, fixes)
            fix.trials.append(trial)
            if trial.verdict == "cures":
                fix.kept = trial
                for other in fixes:
                    if other is not fix and not other.is_proven and other.finding.identity in cured:
                        other.cured_by = fix
                return
        fix.kept = _most_helpful(fix.trials)

    def _known_or_tried(
        self, finding: Finding, remedy: Remedy, change: Change, fixes: Sequence[Fix]
    ) -> tuple[Trial, frozenset[str]]:
        """The trial, stored or made now, and the identities of all findings that it cured."""
        known = self._known_trial(finding, remedy)
        if known is not None:
            return known
        trial, findings = self._try(finding, remedy, change)
        compared = ComparedFindings(self._baseline, findings)
        gone = [fix.finding for fix in fixes if not compared.times_left(fix.finding)]
        cured = frozenset(each.identity for each in gone) if trial.verdict == "cures" else frozenset()
        if self._known is not None:
            self._known.put(finding, trial, cured)
        return trial, cured

    def _known_trial(self, finding: Finding, remedy: Remedy) -> tuple[Trial, frozenset[str]] | None:
        return None if self._known is None else self._known.get(finding, remedy)

    def _try(self, finding: Finding, remedy: Remedy, change: Change) -> tuple[Trial, Sequence[Finding]]:
        """Run the program with the remedy; the trial, and the findings of its last run."""
        before = times_met(finding, self._baseline[0].findings)
        if remedy.tried == STILL_THERE:
            return Trial(remedy, "does not cure", "traced again with it, the frame still has it", before), ()
        program = self._plan.request.program
        edited: tuple[Patch, ...] = ()
        if change.edit is not None:
            has_place = finding.place is not None
            made = patches(program, [source_change(finding.place, change)]) if has_place else None
            if made is None:
                reason = why_not_edited(program, finding.place)
                return Trial(remedy, "does not fit", reason, before), ()
            edited = made
        runs: list[RunResult] = []
        must_gain = change.edit in LEFT_TO_PYTHON
        # What was run for another finding, or with another edit that comes to the same, is only judged again.
        what = None if change.edit is not None else change, edited
        run = self._tried.get(what)
        while True:
            if run is None or runs:
                request = with_change(self._plan.request, change)
                run = self._tried[what] = self._run(_progress_line(remedy), request, [change], edited)
            runs.append(run.result)
            self._repeat_where_only_numbers_differ(run)
            is_edit = change.edit is not None
            judged = judge(finding, self._baseline, run, is_edit=is_edit, must_gain=must_gain)
            if judged.verdict != "is slower" or len(runs) == _RUNS_BEFORE_SLOWER:
                break
            # Perhaps the machine is slower now: the unchanged program is run once more to compare.
            self._repeat_unchanged()
            judged = judge(finding, self._baseline, run, is_edit=is_edit, must_gain=must_gain)
            if judged.verdict != "is slower":
                break
        of_program = self._baseline[0].findings
        calls = () if self._last is None else compile_calls(self._last, of_program, change)
        if judged.verdict in KEPT and not edited:
            edited = patches(program, [source_change(finding.place, change, calls)]) or ()
        trial = Trial(remedy, judged.verdict, judged.reason, before, judged.after, tuple(runs), edited, calls)
        return trial, run.findings

    def _try_together(self, fixes: Sequence[Fix]) -> Trial | None:
        """Try all kept remedies at once, beside eager, and as edits of the program's files where possible."""
        kept = [Candidate.kept(fix, fix.kept) for fix in fixes if fix.kept is not None]
        if not kept:
            return None
        remedy, before = kept[0].remedy, total_times(self._baseline[0].findings)
        together = self._run_together("all that is kept, beside eager", kept)
        if together is None:
            return Trial(remedy, "does not fit", "the edits are in each other's way", before)
        run, edited = together
        judged = judge_together(self._baseline, run, _cured_alone(fixes))
        return Trial(remedy, judged.verdict, judged.reason, before, judged.after, (run.result,), edited)

    def _run_together(
        self, what: str, parts: Sequence[Candidate]
    ) -> tuple[ObservedRun, tuple[Patch, ...]] | None:
        """Run with several changes, beside eager, as edits where possible; None where they are in each
        other's way."""
        request, others = self._plan.request, [each.change for each in parts if not each.edited]
        for change in others:
            request = with_change(request, change)
        source_changes = [each.source_change for each in parts if each.edited]
        edited = patches(request.program, source_changes) if source_changes else ()
        if edited is None:
            return None
        request = replace(request, settings=request.settings._replace(verify=VERIFY_REPORT))
        all_of_it = "beside eager", *dict.fromkeys(others), edited
        run = self._tried.get(all_of_it)
        if run is None:
            run = self._tried[all_of_it] = self._run(what, request, others, edited)
        self._repeat_where_only_numbers_differ(run)
        return run, edited

    def _keep_what_holds_together(self, result: Fixes) -> None:
        """Where all kept remedies together do harm, withdraw each that does so beside those before it."""
        harm = result.together
        if harm is None or not result.is_refuted:
            return
        kept = [fix for fix in result.fixes if fix.kept is not None]
        held: list[Fix] = []
        best: Trial | None = None
        result.further_runs += harm.runs
        result.together = replace(harm, runs=())
        for fix in kept:
            together = harm
            if len(held) + 1 < len(kept):
                together = self._try_together(result.with_what_they_cure([*held, fix])) or harm
                result.further_runs += together.runs
            if together.verdict in KEPT:
                held.append(fix)
                best = together
            else:
                reason = _beside(list(dict.fromkeys(each.number for each in held)), together.reason)
                result.withdraw(fix, together.verdict, reason)
        if best is not None:
            result.together = best
            result.further_runs = [run for run in result.further_runs if run not in best.runs]

    def _repeat_where_only_numbers_differ(self, tried: ObservedRun) -> None:
        """Run the unchanged program again where a number that `tried` prints may be another in each run."""
        while len(self._baseline) < _MOST_UNCHANGED_RUNS:
            difference = difference_in_output(self._baseline, tried)
            if difference is None or not difference.is_in_numbers:
                return
            self._repeat_unchanged()

    def _repeat_unchanged(self) -> None:
        self._baseline.append(self._run("the program as it is, once more", self._plan.request))

    def _run(
        self, what: str, request: Request, changes: Sequence[Change] = (), edited: Sequence[Patch] = ()
    ) -> ObservedRun:
        self._check_budget()
        self._announce(what, self._done)
        folder = self._plan.folder / f"run-{self._done + 1}"
        folder.mkdir(mode=0o700)
        if edited:
            files = folder / "files"
            with os_errors_as(CannotRecord, f"cannot copy the program's files to {files}"):
                program = overlay(request.program, {each.file: each.after for each in edited}, files)
            request = replace(request, program=program)
        first = self._first_seconds
        limit = max(_LEAST_TIME, self._plan.seconds if first is None else 10 * first)
        environment = environment_of(changes)
        unattended = Unattended(folder / "stdout", folder / "stderr", environment, limit)
        began, cpu_before = time.monotonic(), seconds_of_children()
        request = replace(request, output=folder / "recording")
        outcome = record(request, announce=lambda note: None, unattended=unattended)
        seconds = time.monotonic() - began, seconds_of_children() - cpu_before
        if first is None and unattended.timed_out:
            steps = request.settings.stop_after
            how = (
                "`--steps N` ends each run before call N + 1 of a compiled frame"
                if steps is None
                else f"no compiled frame was called over {steps} times (a server needs requests in a run)"
            )
            raise NotMeasured(
                f"the program had not ended after {limit:g} s: {how}; a larger --budget waits longer"
            )
        self._done += 1
        if self._first_seconds is None:
            self._first_seconds = seconds[0]
        return self._observe(outcome, unattended, seconds, request.program.import_path()[0])

    def _observe(
        self, outcome: Outcome, unattended: Unattended, seconds: tuple[float, float], folder: str
    ) -> ObservedRun:
        """The finished run. Where the program printed `folder`, its script's, the original one is put."""
        try:
            recording = read(outcome.recording, CONTENTS)
        except DynamoError as error:
            raise NotMeasured(f"a run left nothing to read: {error}") from error
        case = Case(recording)
        self._first, self._last = self._first or case, recording
        steps = next(filter(None, map(find_steps, recording.processes)), None)
        self._first_steps = self._first_steps or steps
        ending = outcome.ending
        trying = sum(
            each.seconds for process in recording.processes for each in process.interventions.tried_changes
        )
        comparing, compared_calls = beside_eager(recording)
        result = RunResult(
            str(outcome.recording),
            ending.exit_code,
            ending.signal,
            seconds[0] - trying - comparing,
            seconds[1] - comparing,
            comparable_step(steps, self._first_steps, compared_calls),
            *captured(recording),
        )
        original = self._plan.request.program.import_path()[0]
        printed = (unattended.stdout, unattended.stderr)
        stdout, stderr = (read_output(file).replace(folder, original) for file in printed)
        found = case.findings_by_action
        findings = [replace(each, title=each.title.replace(f"{folder}/", "")) for each in found]
        return ObservedRun(result, stdout, findings, program_stderr(stderr), unseen_kinds(recording))

    def _check_budget(self) -> None:
        if self._done >= self._plan.most_runs:
            raise BudgetSpent(f"the {self._plan.most_runs} runs of --most-runs are done")
        if self._done >= _BASELINE_RUNS and time.monotonic() - self._began > self._plan.seconds:
            raise BudgetSpent(f"the {self._plan.seconds:g} s of --budget are over")


def _advised_beside(case: Case) -> Iterator[str]:
    """What is advised for findings that are none of the compiler's."""
    of_the_compiler = {each.identity for each in case.findings if each.kind in OF_THE_COMPILER}
    for action in case.actions:
        if action.remedy is not None and not of_the_compiler.intersection(action.cures):
            yield action.remedy.text


def _most_helpful(trials: Sequence[Trial]) -> Trial | None:
    """The trial of the remedy that helps most, without a cure; None where none helps."""
    return min(
        (each for each in trials if each.verdict == "helps"), key=lambda each: each.after or 0, default=None
    )


def _cured_alone(fixes: Sequence[Fix]) -> list[Finding]:
    """The findings that a remedy of these cures by itself, one's own or another's."""
    return [
        fix.finding
        for fix in fixes
        if fix.cured_by is not None or (fix.kept is not None and fix.kept.verdict == "cures")
    ]


def _beside(numbers: Sequence[int], reason: str) -> str:
    """The reason, with the fixes beside which the run was made."""
    if not numbers:
        return reason
    others = f"with fix {', '.join(map(str, numbers))}"
    return f"{others}: {reason}" if reason else f"{others} nothing is gained"


def _progress_line(remedy: Remedy) -> str:
    what = remedy.in_short
    return f"trying: {what if len(what) <= _LONGEST_LINE else what[:_LONGEST_LINE] + '…'}"

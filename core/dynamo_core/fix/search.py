"""Try the remedies of a program's findings, one after the other, and keep those that are shown to cure.

Each run is a process of its own, without standard input. A finding that another's remedy also cures is not
tried again. Trials are stored, so that a `dynamo fix` that was interrupted can continue. They are valid for
the same command, settings and environment, the same Python files beside the program, the same torch and the
same dynamo. As they say "proven", they are read only with the provenance mark of this machine and user.
"""

import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from .. import __version__
from ..analysis.time.steps import find_steps
from ..case import Case
from ..findings import CONTENTS, OF_THE_COMPILER, Finding, Remedy
from ..findings.kinds import unseen_kinds
from ..launch.process import Unattended
from ..launch.program import Program
from ..launch.run import Outcome, Request, provenance_mark, record
from ..model import Place, Recording
from ..recording.files import DEFAULT_FOLDER, default_folder
from ..recording.plain_files import read_plain
from ..recording.read import read
from ..remedies.rules import Change
from ..shared.errors import CannotRecord, DynamoError, NothingSelected, NotMeasured
from ..shared.masking import masked_environment
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import replace_file
from ..shared.settings import VERIFY_REPORT
from .changes import (
    SourceChange,
    can_be_tried,
    environment_of,
    patches,
    replaced_calls,
    source_change,
    with_change,
)
from .judging import (
    ObservedRun,
    difference_in_output,
    judge,
    lines_compared,
    newly_unrecorded,
    program_stderr,
    times_met,
    total_times,
)
from .trial import KEPT, Fix, Fixes, Patch, RunResult, Trial, overlay

# Kinds of findings for which the line can be left to Python.
_SPLITTABLE = "graph break", "fell back to eager"


def further_remedies(finding: Finding) -> tuple[Remedy, ...]:
    """What to try where no remedy of the finding cures it: leave the line to Python, compile around it.

    Torch does much the same where a graph breaks.
    """
    if finding.kind not in _SPLITTABLE:
        return ()
    text = (
        f"compile what stands before `{finding.source}` and after it as functions of their own, and leave "
        "the line itself to Python."
    )
    return (
        Remedy(
            "edit",
            text,
            "dynamo breaks",
            change=Change(edit="compiled around it"),
            may_change="it stays outside of the graphs; what is saved is Dynamo's own work around a break",
        ),
    )


# Stored trials

_FOLDER, _FILE = "fix-trials", "trials.json"
_LARGEST = 64 << 20  # bytes
_LARGEST_SOURCE = 4 << 20  # bytes
_MOST_FILES = 5_000  # Python files in the program's folder; with more, no trials are stored
_MOST_ENTRIES = 50_000  # files of any kind and folders: the script may be in a home folder


class KnownTrials:
    """The stored trials of one program in its current state. A trial that cannot be read is made again."""

    def __init__(self, request: Request, torch: Sequence[str | None]) -> None:
        settings = {**request.settings._asdict(), "recording": ""}
        sources = _digest_of_sources(request)
        environment = masked_environment(os.environ)
        surroundings = [request.python, os.getcwd(), environment, list(torch), sources, __version__]
        program = [request.program.arguments, settings, surroundings]
        self._program = None if sources is None else json.dumps(program)
        self._known = {} if self._program is None else _read_trials()

    def get(self, finding: Finding, remedy: Remedy) -> tuple[Trial, frozenset[str]] | None:
        """The trial of this remedy, and the identities of all findings that it cured."""
        found = self._known.get(self._key(finding, remedy))
        if found is None:
            return None
        try:
            trial = Trial(
                remedy,
                found["verdict"],
                found["reason"],
                found["before"],
                found["after"],
                tuple(RunResult(**run) for run in found["runs"]),
                tuple(Patch(**patch) for patch in found["patches"]),
                tuple(Place(*place) for place in found["called_at"]),
                is_earlier=True,
            )
            return trial, frozenset(found["cured"])
        except (KeyError, TypeError):
            return None

    def put(self, finding: Finding, trial: Trial, cured: frozenset[str]) -> None:
        """Store a trial."""
        if self._program is None:
            return
        content = {name: value for name, value in asdict(trial).items() if name != "remedy"}
        self._known[self._key(finding, trial.remedy)] = {**content, "cured": sorted(cured)}
        folder = DEFAULT_FOLDER / _FOLDER
        try:
            default_folder()
            folder.mkdir(mode=0o700, exist_ok=True)
            text = json.dumps({"mark": provenance_mark(folder), "trials": self._known})
            replace_file(folder / _FILE, text.encode())
        except OSError:  # not needed for the current search
            pass

    def _key(self, finding: Finding, remedy: Remedy) -> str:
        change = None if remedy.change is None else asdict(remedy.change)
        return sha256(json.dumps([self._program, finding.identity, change]).encode()).hexdigest()


def _read_trials() -> dict[str, Any]:
    """The trials on disk, of all programs; none where they are damaged or not from this machine and user."""
    folder = DEFAULT_FOLDER / _FOLDER
    try:
        saved = json.loads(read_plain(folder / _FILE, _LARGEST))
        is_ours = saved["mark"] is not None and saved["mark"] == provenance_mark(folder)
        trials = saved["trials"] if is_ours else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return trials if isinstance(trials, dict) else {}


def _digest_of_sources(request: Request) -> str | None:
    """A digest of the Python files in the program's folder and below; None where they are too many."""
    digest = sha256()
    sources = _sources(Path(request.program.import_path()[0]))
    if sources is None:
        return None
    for file in sources:
        try:
            content = read_plain(file.resolve(), _LARGEST_SOURCE)
        except OSError:
            continue
        digest.update(f"{file}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def _sources(folder: Path) -> list[Path] | None:
    """The Python files in a folder and below, without hidden folders; None where there are too many."""
    found: list[Path] = []
    entries = 0
    for root, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        found += (Path(root) / name for name in sorted(files) if name.endswith(".py"))
        if len(found) > _MOST_FILES or entries > _MOST_ENTRIES:
            return None
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "site-packages")
    return found


# The search

LONGEST_OUTPUT = 4 << 20  # bytes of a run's output that are compared
_LONGEST_LINE = 100  # characters of a remedy's text in the progress line
_BASELINE_RUNS = 2  # two, to see what differs from run to run without any remedy
_RUNS_BEFORE_SLOWER = 2  # a second run rules out that the machine was busy for a moment
_LEAST_TIME = 120.0  # seconds: a run may take this long, or ten times as long as the first one

Announce = Callable[[str, int], None]  # gets what runs now, and how many runs are done


@dataclass(frozen=True)
class Plan:
    """What to fix, the folder for its runs, and the budget: `most_runs` and `seconds`.

    With `only`, just the findings of these identities are fixed.
    """

    request: Request
    folder: Path
    most_runs: int
    seconds: float
    only: tuple[str, ...] = ()


class BudgetSpent(Exception):
    """No further run is allowed."""


def fix(plan: Plan, announce: Announce) -> Fixes:
    """Search for fixes. NotMeasured where a run leaves nothing to read; Ctrl-C ends the search early."""
    return _Search(plan, announce).fixes()


class _Search:
    def __init__(self, plan: Plan, announce: Announce) -> None:
        self._plan = plan
        self._announce = announce
        self._began = time.monotonic()
        self._done = 0
        self._first_seconds: float | None = None
        self._baseline: list[ObservedRun] = []
        self._known: KnownTrials | None = None
        self._last: Recording | None = None

    def fixes(self) -> Fixes:
        """Run the program unchanged, then with each remedy, and judge which are cures."""
        for number in range(_BASELINE_RUNS):
            what = f"the program as it is, {number + 1} of {_BASELINE_RUNS}"
            self._baseline.append(self._run(what, self._plan.request))
        found = [each for each in self._baseline[0].findings if self._is_wanted(each)]
        if self._plan.only and not found:
            raise NothingSelected(f"no finding of the compiler's has the identity {self._plan.only[0]}")
        processes = [] if self._last is None else self._last.processes
        self._known = KnownTrials(self._plan.request, [each.torch_version for each in processes])
        result = Fixes(
            self._plan.request.program.name,
            tuple(each.result for each in self._baseline),
            [Fix(finding) for finding in found],
            steps=self._plan.request.settings.stop_after,
            lines_compared=lines_compared(self._baseline),
            unseen=tuple(sorted(self._baseline[0].unseen)),
        )
        try:
            for number, fix in enumerate(result.fixes, 1):
                if not fix.is_proven:
                    self._try_remedies(fix, number, result.fixes)
            result.together = self._try_together(result.fixes)
            result.withdraw_what_is_refuted()
            self._withdraw_harmful(result)
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

    def _try_remedies(self, fix: Fix, number: int, fixes: Sequence[Fix]) -> None:
        """Try remedies until one cures; else keep the one that helps most, if any."""
        helping: Trial | None = None
        for remedy in (*fix.finding.remedies, *further_remedies(fix.finding)):
            if remedy.change is None or not can_be_tried(remedy.change):
                continue
            trial, cured = self._known_or_tried(fix.finding, remedy, remedy.change, fixes)
            fix.trials.append(trial)
            if trial.verdict == "cures":
                fix.kept = trial
                for other in fixes:
                    if other is not fix and not other.is_proven and other.finding.identity in cured:
                        other.cured_by = number
                return
            if trial.verdict == "helps" and (helping is None or (trial.after or 0) < (helping.after or 0)):
                helping = trial
        fix.kept = helping

    def _known_or_tried(
        self, finding: Finding, remedy: Remedy, change: Change, fixes: Sequence[Fix]
    ) -> tuple[Trial, frozenset[str]]:
        """The trial, stored or made now, and the identities of all findings that it cured."""
        known = None if self._known is None else self._known.get(finding, remedy)
        if known is not None:
            return known
        trial, findings = self._try(finding, remedy, change)
        is_edit = change.edit is not None
        gone = [fix.finding for fix in fixes if not times_met(fix.finding, findings, is_edit=is_edit)]
        cured = frozenset(each.identity for each in gone) if trial.verdict == "cures" else frozenset()
        if self._known is not None:
            self._known.put(finding, trial, cured)
        return trial, cured

    def _try(self, finding: Finding, remedy: Remedy, change: Change) -> tuple[Trial, Sequence[Finding]]:
        """Run the program with the remedy; the trial, and the findings of its last run."""
        before = times_met(finding, self._baseline[0].findings)
        program = self._plan.request.program
        edited: tuple[Patch, ...] = ()
        if change.edit is not None:
            has_place = finding.place is not None
            made = patches(program, [source_change(finding, change)]) if has_place else None
            if made is None:
                reason = "the line is not one that this edit is for, or not in the program's own files"
                return Trial(remedy, "does not fit", reason, before), ()
            edited = made
        runs: list[RunResult] = []
        while True:
            run = self._run(_progress_line(remedy), with_change(self._plan.request, change), [change], edited)
            runs.append(run.result)
            judged = judge(finding, self._baseline, run, is_edit=change.edit is not None)
            if judged.verdict != "is slower" or len(runs) == _RUNS_BEFORE_SLOWER:
                break
            # Perhaps the machine is slower now: the unchanged program is run once more to compare.
            self._baseline.append(self._run("the program as it is, once more", self._plan.request))
        calls = replaced_calls(self._last) if change.arguments and self._last is not None else ()
        if judged.verdict in KEPT and not edited:
            edited = patches(program, [source_change(finding, change, calls)]) or ()
        trial = Trial(remedy, judged.verdict, judged.reason, before, judged.after, tuple(runs), edited, calls)
        return trial, run.findings

    def _try_together(self, fixes: Sequence[Fix]) -> Trial | None:
        """Try all kept remedies at once, beside eager, and as edits of the program's files where possible."""
        kept = [(fix.finding, fix.kept) for fix in fixes if fix.kept is not None]
        if not kept:
            return None
        program, request = self._plan.request.program, self._plan.request
        source_changes: list[SourceChange] = []
        others: list[Change] = []
        for finding, trial in kept:
            change = trial.remedy.change
            assert change is not None
            if trial.patches:
                source_changes.append(source_change(finding, change, trial.called_at))
            else:
                others.append(change)
                request = with_change(request, change)
        edited = patches(program, source_changes) if source_changes else ()
        remedy = kept[0][1].remedy
        before = total_times(self._baseline[0].findings)
        if edited is None:
            return Trial(remedy, "does not fit", "the edits are in each other's way", before)
        request = replace(request, settings=request.settings._replace(verify=VERIFY_REPORT))
        run = self._run("all that is kept, beside eager", request, others, edited)
        after = total_times(run.findings)
        wrong = [each for each in run.findings if each.kind == "wrong result"]
        ending = self._baseline[0].result
        difference = difference_in_output(self._baseline, run)
        if wrong:
            return Trial(remedy, "disagrees with eager", wrong[0].title, before, after, (run.result,), edited)
        if (run.result.exit_code, run.result.signal) != (ending.exit_code, ending.signal):
            reason = "together they end the program otherwise"
            return Trial(remedy, "changes the ending", reason, before, after, (run.result,), edited)
        if difference is not None:
            return Trial(remedy, "changes the output", difference, before, after, (run.result,), edited)
        unseen = newly_unrecorded(self._baseline, run)
        if unseen is not None:
            return Trial(remedy, "does not cure", unseen, before, after, (run.result,), edited)
        verdict = "cures" if after == 0 else "helps" if after < before else "does not cure"
        return Trial(remedy, verdict, "", before, after, (run.result,), edited)  # type: ignore[arg-type]

    def _withdraw_harmful(self, result: Fixes) -> None:
        """Where all kept remedies together do harm, withdraw the one without which the others do none."""
        harm = result.together
        if harm is None or not result.is_refuted:
            return
        for fix in (each for each in result.fixes if each.kept is not None):
            rest = self._try_together([each for each in result.fixes if each is not fix])
            if rest is not None and rest.verdict in KEPT:
                result.withdraw(fix, replace(harm, reason=f"with the others: {harm.reason}"))
                result.together = rest
                return
            result.further_runs += () if rest is None else rest.runs

    def _run(
        self, what: str, request: Request, changes: Sequence[Change] = (), edited: Sequence[Patch] = ()
    ) -> ObservedRun:
        self._check_budget()
        self._announce(what, self._done)
        folder = self._plan.folder / f"run-{self._done + 1}"
        folder.mkdir(mode=0o700)
        if edited:
            request = replace(request, program=_overlay(request.program, edited, folder / "files"))
        limit = None if self._first_seconds is None else max(_LEAST_TIME, 10 * self._first_seconds)
        environment = environment_of(changes)
        unattended = Unattended(folder / "stdout", folder / "stderr", environment, limit)
        began, cpu_before = time.monotonic(), _cpu_seconds_of_children()
        request = replace(request, output=folder / "recording")
        outcome = record(request, announce=lambda note: None, unattended=unattended)
        seconds = time.monotonic() - began, _cpu_seconds_of_children() - cpu_before
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
        self._last = recording
        steps = [found.median for process in recording.processes if (found := find_steps(process))]
        ending = outcome.ending
        result = RunResult(
            str(outcome.recording),
            ending.exit_code,
            ending.signal,
            *seconds,
            steps[0] if steps else None,
            _captured_ops(recording),
        )
        stdout, stderr = (
            _read_output(file).replace(folder, self._plan.request.program.import_path()[0])
            for file in (unattended.stdout, unattended.stderr)
        )
        findings = Case(recording).findings_by_action
        return ObservedRun(result, stdout, findings, program_stderr(stderr), unseen_kinds(recording))

    def _check_budget(self) -> None:
        if self._done >= self._plan.most_runs:
            raise BudgetSpent(f"the {self._plan.most_runs} runs that it may take are done")
        if self._done >= _BASELINE_RUNS and time.monotonic() - self._began > self._plan.seconds:
            raise BudgetSpent(f"the {self._plan.seconds:g} s that it may take are over")


def _overlay(program: Program, edited: Sequence[Patch], folder: Path) -> Program:
    try:
        return overlay(program, {patch.file: patch.after for patch in edited}, folder)
    except OSError as error:
        raise CannotRecord(f"cannot copy the program's files to {folder}: {error.strerror}") from error


def _captured_ops(recording: Recording) -> int | None:
    """The ops in graphs, without recompiles, which repeat the same ones; None if a number is not known."""
    graphs = (graph for process in recording.processes for graph in process.compiled_graphs)
    ops = [each.ops for each in graphs if each.compile_id is None or each.compile_id.compile == 0]
    return None if None in ops else sum(each or 0 for each in ops)


def _read_output(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(LONGEST_OUTPUT).decode("utf-8", "backslashreplace")


def _cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _progress_line(remedy: Remedy) -> str:
    first, _, _ = remedy.text.partition(": ")
    return f"trying: {first if len(first) <= _LONGEST_LINE else first[:_LONGEST_LINE] + '…'}"

"""Whether the modules that a program called export, with what code, and what is in the way.

They are from the trials of `dynamo export` (`capture/exporting`), or from a trace that torch wrote.
"""

import fcntl
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ..analysis.source_lines import is_library
from ..findings import ANALYSES_OF_THE_COMPILER, CONTENTS, find
from ..model import (
    AGREES,
    DISAGREES,
    UNKNOWN_FILE,
    CalledModule,
    ComparedValue,
    ConstantSeen,
    ExportComparison,
    ExportTrial,
    InputSeen,
    Place,
    Process,
    Recording,
    StackFrame,
    TracedExport,
)
from ..recording.read import read
from ..shared.conversion import from_fields
from ..shared.errors import CannotRecord, NotARecording, NothingExported, os_errors_as
from ..shared.names import (
    AOTI,
    COMPILE,
    DONE,
    DRAFT,
    EXPORT,
    EXPORT_CALL_SUFFIX,
    EXPORT_ENDED,
    EXPORT_FOLDER,
    EXPORT_RUNNING,
    EXPORT_STOP,
    RAISED,
    STRICT,
)
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import open_private
from ..shared.text import file_name
from .obstacles import Obstacle, drafted_obstacle, obstacles


@dataclass(frozen=True)
class ExportInTrace:
    """A call of torch.export. `program` is as torch prints it; null where the export did not end well.

    What a draft met is listed though it gave a program: it is what torch.export stops at.
    """

    stream: str
    began: str
    program: str | None
    obstacles: tuple[Obstacle, ...]


def exports_in_trace(recording: Recording) -> tuple[ExportInTrace, ...]:
    """All exports in the traces, in the order in which they began."""
    found = (
        ExportInTrace(process.stream.name, each.began, each.program, _obstacles(each))
        for process in recording.processes
        for each in process.export.traced
    )
    return tuple(sorted(found, key=lambda each: each.began))


def _user_frames(stack: Sequence[StackFrame]) -> tuple[StackFrame, ...]:
    """A stack down to the user's innermost line: the frames below it are torch's export code."""
    end = max((place for place, each in enumerate(stack, start=1) if not is_library(each.place)), default=0)
    return tuple(stack[:end])


def _obstacles(traced: TracedExport) -> tuple[Obstacle, ...]:
    """The obstacles of an export, once for each line, or for each operator without a known line.

    The way of exporting that met them is not known.
    """
    found: dict[object, Obstacle] = {}
    for met in traced.obstacles:
        obstacle = replace(drafted_obstacle(replace(met, stack=_user_frames(met.stack))), met_by=())
        if obstacle.place is not None and obstacle.place.file == UNKNOWN_FILE:
            obstacle = replace(obstacle, place=None)
        key = (obstacle.place, obstacle.cause) if obstacle.place is not None else obstacle.words
        found.pop(key, None)
        found[key] = obstacle
    return tuple(found.values())


_PROBE = "modules to export"  # the name of the probe (`capture/probe_table.py`)
Verdict = Literal["exports", "exports for some calls", "disagrees with eager", "does not export", "raises"]
"""`exports for some calls`: for those with the sizes and values of one call, where calls differ in them."""


@dataclass(frozen=True)
class Way:
    """One trial and what came of it. `shapes` says whether the sizes that varied were dynamic."""

    kind: str
    shapes: Literal["dynamic", "fixed"]
    outcome: str
    seconds: float
    words: str | None


@dataclass(frozen=True)
class ComparedCall:
    """An exported program beside eager, on inputs of these sizes; `by` is the trial that made it."""

    by: str
    sizes: str
    outcome: str
    compared: int
    why: str | None
    worst: ComparedValue | None


@dataclass(frozen=True)
class ModuleExport:
    """A module with all that is known of exporting it.

    `code` exports it, when the names in it are those of a call's arguments. `file` is what was saved in the
    recording, `not_saved` why it could not be, `package` AOTInductor's.
    """

    name: str
    verdict: Verdict
    place: Place | None
    called_at: StackFrame | None
    training: bool
    parameters: int
    calls: int
    other_forms: int
    inputs: tuple[InputSeen, ...]
    constants: tuple[ConstantSeen, ...]
    dynamic_shapes: str | None
    code: str | None
    ways: tuple[Way, ...]
    compared: tuple[ComparedCall, ...]
    obstacles: tuple[Obstacle, ...]
    file: str | None
    not_saved: str | None
    package: str | None


@dataclass(frozen=True)
class Exports:
    """The modules in the order in which they were first called.

    `left_out` is how many were called and not tried, and `why_left_out` says why; None where that was not
    recorded. `problem` is an error of ours that kept calls from being observed. A trace that torch wrote has
    no modules, but the exports that it `traced`.
    """

    modules: tuple[ModuleExport, ...]
    left_out: int | None
    why_left_out: str | None
    problem: str | None
    traced: tuple[ExportInTrace, ...] = ()


def exports_of(recording: Recording) -> Exports:
    """The results of a run's trials, or the exports in a trace; NotARecording where there are none."""
    if recording.run is None or recording.run.settings.recorded.get("export") is None:
        traced = exports_in_trace(recording)
        if traced:
            return Exports((), None, None, None, traced)
        raise NotARecording(
            f"{recording.path} is no recording of `dynamo export`; name the program instead, or a trace of "
            "an export that was written with TORCH_DTRACE"
        )
    folder = recording.path / EXPORT_FOLDER
    called = [known for each in recording.processes if (known := each.export.modules_called) is not None]
    left_out = sum(each.left_out for each in called) if called or not recording.processes else None
    why = next((each.cannot_copy for each in called if each.cannot_copy), None)
    modules = _modules(folder) if folder.is_dir() and any(folder.glob("*.log")) else ()
    if not modules and any(each.modules > each.left_out for each in called):
        raise NotARecording(f"{recording.path} has no trials in it, as a bundle; name the recording's folder")
    problems = (each.health.failed_probes.get(_PROBE) for each in recording.processes)
    return Exports(tuple(modules), left_out, why, next(filter(None, problems), None))


def _modules(folder: Path) -> list[ModuleExport]:
    trials = read(folder, CONTENTS)
    copies = [process for process in trials.processes if process.export.called_module is not None]
    copies.sort(key=lambda process: process.info.began_ns or 0)
    return _with_unique_names([_module_of(copy, trials) for copy in copies])


def _with_unique_names(modules: Sequence[ModuleExport]) -> list[ModuleExport]:
    """The modules with a number for further ones of a class: the second is `Linear (2)`."""
    found: list[ModuleExport] = []
    met: Counter[str] = Counter()
    for module in modules:
        met[module.name] += 1
        count = met[module.name]
        found.append(replace(module, name=f"{module.name} ({count})") if count > 1 else module)
    return found


def _module_of(copy: Process, trials: Recording) -> ModuleExport:
    """The export of a module, from a copy of the program's process and the trials that it forked."""
    module = copy.export.called_module
    assert module is not None
    forks = [each for each in trials.processes if each.info.ppid == copy.info.pid]
    tried = _unique_in_order([trial for process in (*forks, copy) for trial in process.export.trials])
    with_trials = [each for each in forks if each.export.trials]
    compiled = [process for process in forks if any(t.kind == COMPILE for t in process.export.trials)]
    findings = find(replace(trials, processes=compiled), analyses=ANALYSES_OF_THE_COMPILER)
    works = [trial for trial in tried if trial.kind in (EXPORT, STRICT) and trial.outcome == DONE]
    compared = tuple(
        _compared_call(fork.export.trials[0].kind, each)
        for fork in with_trials
        for each in fork.export.comparisons
    )
    obstructed = [trial for trial in tried if trial.outcome != DONE or trial.obstacles]
    return from_fields(
        ModuleExport,
        module,
        verdict=_verdict(module, tried, works, compared),
        code=_export_code(module, works),
        ways=tuple(map(_way_of, tried)),
        compared=compared,
        obstacles=tuple(obstacles(obstructed, findings, copy.torch_version)),
        file=next((each.saved for each in works if each.saved), None),
        not_saved=next((f"{each.error_kind}: {each.error}" for each in works if each.error), None),
        package=next((each.saved for each in tried if each.kind == AOTI and each.outcome == DONE), None),
    )


def _unique_in_order(trials: Iterable[ExportTrial]) -> list[ExportTrial]:
    """Each kind of trial once: one that succeeded is recorded twice if it is ended while comparing."""
    order = (EXPORT, STRICT, DRAFT, COMPILE, AOTI)
    once: dict[tuple[str, bool], ExportTrial] = {}
    for trial in trials:
        key = trial.kind, trial.is_dynamic
        if key not in once or trial.outcome == DONE:
            once[key] = trial
    return sorted(once.values(), key=lambda trial: (order.index(trial.kind), not trial.is_dynamic))


def _way_of(trial: ExportTrial) -> Way:
    words = None if trial.error is None else f"{trial.error_kind or 'ended'}: {trial.error}"
    return Way(trial.kind, "dynamic" if trial.is_dynamic else "fixed", trial.outcome, trial.seconds, words)


def _compared_call(kind: str, comparison: ExportComparison) -> ComparedCall:
    sizes = ", ".join(f"{name} {list(each)}" for name, each in comparison.sizes.items())
    return ComparedCall(
        kind, sizes, comparison.outcome, comparison.compared, comparison.why, comparison.worst
    )


def _verdict(
    module: CalledModule,
    tried: Sequence[ExportTrial],
    works: Sequence[ExportTrial],
    compared: Sequence[ComparedCall],
) -> Verdict:
    if not works:
        return "raises" if any(trial.outcome == RAISED for trial in tried) else "does not export"
    if any(each.outcome == DISAGREES for each in compared):
        return "disagrees with eager"
    are_fixed = module.dynamic_shapes is not None and not any(trial.is_dynamic for trial in works)
    if are_fixed or specialized_arguments(module.constants):
        return "exports for some calls"
    return "exports"


def specialized_arguments(constants: Iterable[ConstantSeen]) -> list[ConstantSeen]:
    """Arguments with several values, of which an exported program has only one; integers can be dynamic."""
    return [
        each
        for each in constants
        if len(each.values) > 1 and not all(value.removeprefix("-").isdigit() for value in each.values)
    ]


def _export_code(module: CalledModule, works: Sequence[ExportTrial]) -> str | None:
    """The code that exports a module, as it was tried; None where no trial succeeded."""
    if not works:
        return None
    best = max(works, key=lambda trial: (trial.is_dynamic, trial.kind == EXPORT))
    names = ["Dim"] if best.is_dynamic else []
    names += ["export", *(["register_dataclass"] if module.dataclasses else [])]
    lines = [f"from torch.export import {', '.join(names)}", ""]
    lines += [f"register_dataclass({name})" for name in module.dataclasses]
    lines += ["exported = export(", f"    model, {module.arguments},"]
    if best.is_dynamic:
        lines.append(f"    dynamic_shapes={module.dynamic_shapes},")
    lines.append(f"    strict={best.kind == STRICT},")
    return "\n".join([*lines, ")"])


def agreement(module: ModuleExport) -> str:
    """Whether the exported program agrees with eager over all compared calls, in a word or two."""
    outcomes = {each.outcome for each in module.compared}
    if DISAGREES in outcomes:
        return DISAGREES
    if not outcomes:
        return "not compared"
    return AGREES if outcomes == {AGREES} else "agrees in part" if AGREES in outcomes else "not comparable"


def save_exported(
    modules: Sequence[ModuleExport], recording: Path, target: Path, *, packages: bool
) -> list[Path]:
    """Copy the exported programs, or packages, to the file `target`; several to a folder of that name.

    The folder's name has no file ending. The files are those that this run has just written. Raises
    NothingExported or CannotRecord.
    """
    named = {module: module.package if packages else module.file for module in modules}
    found = {module: recording / EXPORT_FOLDER / Path(file).name for module, file in named.items() if file}
    if not found:
        what = "package was made" if packages else "module exports"
        raise NothingExported(f"no {what}, so that nothing is written to {target}")
    with os_errors_as(CannotRecord, f"cannot write {target}"):
        if len(found) == 1:
            target.parent.mkdir(parents=True, exist_ok=True)
            return [Path(shutil.copyfile(file, target)) for file in found.values()]
        folder = target.with_suffix("")
        folder.mkdir(parents=True, exist_ok=True)
        return [
            Path(shutil.copyfile(file, folder / f"{file_name(module.name) or 'module'}{target.suffix}"))
            for module, file in found.items()
        ]


_LOOKS_EVERY = 0.1  # seconds
_ENDS_WITHIN = 5.0  # seconds that trials have to stop


def wait_for_trials(recording: Path, announce: Callable[[str], None]) -> None:
    """Return when all copies have ended; they start when the program has ended. An interrupt stops them."""
    folder = recording / EXPORT_FOLDER
    if not (folder / EXPORT_RUNNING).exists():
        return  # no module was called
    os.close(open_private(folder / EXPORT_ENDED))
    announce("trying to export what the program called")
    try:
        _wait(folder)
    finally:  # remove inputs of the program that no copy has read
        for file in folder.glob(f"*{EXPORT_CALL_SUFFIX}"):
            file.unlink(missing_ok=True)


def _wait(folder: Path) -> None:
    with open(folder / EXPORT_RUNNING, "rb") as running:
        try:
            while not _have_ended(running.fileno()):
                time.sleep(_LOOKS_EVERY)
        except BaseException:
            os.close(open_private(folder / EXPORT_STOP))
            until = time.monotonic() + _ENDS_WITHIN
            while not _have_ended(running.fileno()) and time.monotonic() < until:
                time.sleep(_LOOKS_EVERY)
            raise


def _have_ended(running: int) -> bool:
    """Whether no copy holds the lock on the file any more."""
    try:
        fcntl.flock(running, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False

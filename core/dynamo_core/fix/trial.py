"""The results of `dynamo fix`: runs, trials and fixes; and the program with some of its files edited.

The user's own files are never touched. A folder of links to everything beside the script stands in for the
script's own folder, on `sys.path` too; an edited file is a copy there, and so is each folder on its path.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from ..analysis.source_lines import is_library
from ..analysis.time.steps import Steps
from ..findings import Finding, Remedy
from ..launch.program import Program
from ..model import Place, Recording, VerifiedCall, VerifiedProgramCall
from ..shared.declared import NOT_IN_JSON
from ..shared.quick_dataclass import dataclass

Verdict = Literal[
    "cures",
    "helps",
    "does not cure",
    "brings other findings",
    "changes the output",
    "changes the ending",
    "disagrees with eager",
    "is slower",
    "does not fit",
]
# Verdicts with which a remedy is kept: its finding is gone, or met less often.
KEPT: tuple[Verdict, ...] = ("cures", "helps")
_MOST_OTHER_STEPS = 1.5  # a factor: how many belong to the warm-up is a range


@dataclass(frozen=True)
class RunResult:
    """One run of the program: its recording, how it ended, and what it took, in seconds.

    `cpu_seconds` is what it and its children computed; `step_seconds` the median of its steady steps, None
    where nothing repeats. `captured_ops` are the ops that ran in graphs, over all calls; `graphs` counts
    all that were compiled, `graph_calls` how often they ran; `frames` are those that Dynamo has traced.
    """

    recording: str
    exit_code: int | None
    signal: int | None
    seconds: float
    cpu_seconds: float
    step_seconds: float | None
    captured_ops: int | None = None
    graphs: int | None = None
    graph_calls: int | None = None
    frames: int | None = None


def captured(recording: Recording) -> tuple[int | None, int, int, int]:
    """The ops in graphs, None if not known; the graphs, how often they ran, and the frames traced."""
    graphs = [graph for process in recording.processes for graph in process.compiled_graphs]
    ran = [None if each.ops is None or each.calls is None else each.ops * each.calls for each in graphs]
    calls, frames = sum(each.calls or 0 for each in graphs), sum(len(p.frames) for p in recording.processes)
    return None if None in ran else sum(each or 0 for each in ran), len(graphs), calls, frames


def beside_eager(recording: Recording) -> tuple[float, int]:
    """The seconds that comparing with eager took, and how many calls of one graph or function it was."""
    calls: list[VerifiedCall | VerifiedProgramCall] = []
    for process in recording.processes:
        calls += [*process.interventions.verified, *process.interventions.verified_program_calls]
    compared = [each for each in calls if each.compared]
    return sum(each.seconds for each in compared), max((each.call for each in compared), default=0)


def comparable_step(steps: Steps | None, first: Steps | None, compared_calls: int = 0) -> float | None:
    """What a step takes; None where it is more of the program, or less, than in the first run.

    So where half of the steps or more were compared with eager, which takes time.
    """
    if steps is None or first is None or compared_calls >= steps.warm_up[0] + steps.steady / 2:
        return None
    counts = [sum(each.warm_up) / 2 + each.steady for each in (steps, first)]
    return steps.median if max(counts) <= _MOST_OTHER_STEPS * min(counts) else None


@dataclass(frozen=True)
class Patch:
    """An edited file: its path, and its text before and after."""

    file: str
    before: str
    after: str


@dataclass(frozen=True)
class Trial:
    """A remedy that was tried. `before` and `after` say how often the finding was met; None where not run.

    `reason` explains the verdict in words. `patches` are the edits that were tried, or that have the same
    effect permanently; `called_at` the calls of torch.compile in which arguments were replaced. A trial that
    `is_earlier` was made by an earlier `dynamo fix`; one that `is_shared` in a run with other remedies.
    """

    remedy: Remedy
    verdict: Verdict
    reason: str
    before: int
    after: int | None = None
    runs: tuple[RunResult, ...] = ()
    patches: tuple[Patch, ...] = field(default=(), metadata=NOT_IN_JSON)
    called_at: tuple[Place, ...] = field(default=(), metadata=NOT_IN_JSON)
    is_earlier: bool = False
    is_shared: bool = False


@dataclass
class Fix:
    """A finding and its trials. `kept` is the trial of the remedy to use, None where none cures it.

    `number` is that of the action of `dynamo explain` that cures the finding; several findings may have the
    same. `cured_by` is another fix whose remedy cures this one as well.
    """

    number: int
    finding: Finding
    trials: list[Trial] = field(default_factory=list)
    kept: Trial | None = None
    cured_by: "Fix | None" = None

    @property
    def is_proven(self) -> bool:
        """Whether a run has shown a cure for the finding."""
        return self.kept is not None or self.cured_by is not None


@dataclass
class Fixes:
    """The result of `dynamo fix` for a program.

    `together` is the run with every kept remedy at once, beside eager; None where none was kept or the budget
    was spent. `stopped` says why not everything was tried. With `steps`, each run was ended after that many.
    `lines_compared` lines of the output are compared; of a program that prints none, only the ending is.
    `further_runs` were made to find out which remedies hold together.
    `unseen` are the kinds of findings that the program's recording cannot rule out; `by_hand` is what
    `dynamo explain` advises for what is none of the compiler's findings, of which no run shows a cure.
    """

    program: str
    baseline: tuple[RunResult, ...]
    fixes: list[Fix] = field(default_factory=list)
    together: Trial | None = None
    stopped: str | None = None
    steps: int | None = None
    lines_compared: int = 0
    further_runs: list[RunResult] = field(default_factory=list)
    unseen: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()

    @property
    def is_refuted(self) -> bool:
        """Whether the kept remedies do harm, or have no effect, in the run with all of them beside eager."""
        return self.together is not None and self.together.verdict not in KEPT

    @property
    def patches(self) -> tuple[Patch, ...]:
        """The edits of all kept remedies, as they were proven together."""
        return () if self.together is None or self.is_refuted else self.together.patches

    def withdraw_lines_that_never_ran(self) -> None:
        """Drop the patches of settings and arguments that no last run has tried in the program's files."""
        if self.together is not None:
            return
        for fix in self.fixes:
            kept = fix.kept
            if kept is not None and kept.remedy.change is not None and kept.remedy.change.edit is None:
                fix.kept = replace(kept, patches=())
                fix.trials[fix.trials.index(kept)] = fix.kept

    def withdraw(self, fix: Fix, verdict: Verdict, reason: str) -> None:
        """Withdraw the remedy of a fix, also for the other fixes it cured, as it did harm beside others."""
        assert fix.kept is not None
        refuted = replace(fix.kept, verdict=verdict, reason=reason)
        fix.trials[fix.trials.index(fix.kept)] = refuted
        fix.kept = None
        for other in self.fixes:
            other.cured_by = None if other.cured_by is fix else other.cured_by

    def with_what_they_cure(self, fixes: Sequence[Fix]) -> list[Fix]:
        """These fixes, and the findings that their remedies cure as well."""
        return [*fixes, *(each for each in self.fixes if any(each.cured_by is fix for fix in fixes))]

    @property
    def runs(self) -> list[RunResult]:
        """The runs of the program that this `dynamo fix` made, each once."""
        tried = [trial for fix in self.fixes for trial in fix.trials]
        tried += [self.together] if self.together is not None else []
        now = (run for trial in tried if not trial.is_earlier for run in trial.runs)
        return list(dict.fromkeys([*self.baseline, *now, *self.further_runs]))


def script_of(program: Program) -> Path | None:
    """The program's script; None where it is a module, code or another command."""
    if not program.is_python or program.arguments[0].startswith("-"):
        return None
    script = Path(program.arguments[0])
    return script if script.is_file() and script.suffix in (".py", ".pyw", "") else None


def can_be_edited(program: Program, file: str) -> bool:
    """Whether a file is a Python file in the script's folder or below, and not part of a library."""
    script = script_of(program)
    if script is None or not os.path.isabs(file):
        return False
    home, path = script.resolve().parent, Path(file).resolve()
    if path.suffix != ".py" or home not in path.parents or not path.is_file():
        return False
    return not is_library(Place(f"/{path.relative_to(home)}", 1))  # a virtual environment may be there


def overlay(program: Program, edited: Mapping[str, str], folder: Path) -> Program:
    """Create `folder` with the `edited` files' new texts, by path, and return the program that runs there."""
    script = script_of(program)
    assert script is not None
    home = script.resolve().parent
    # The script is always a copy: Python would resolve a link, and put the original folder on sys.path.
    texts = {Path(script.resolve().name): script.read_bytes()}
    texts |= {Path(file).resolve().relative_to(home): text.encode("utf-8") for file, text in edited.items()}
    _mirror(home, folder, texts)
    copy = folder / script.resolve().name
    return replace(program, arguments=(str(copy), *program.arguments[1:]))


def _mirror(original: Path, copy: Path, texts: Mapping[Path, bytes]) -> None:
    """Fill the new folder `copy` with links to what is in `original`, and copies of the edited files."""
    copy.mkdir(mode=0o700)
    own = {path.parts[0] for path in texts}
    for entry in os.scandir(original):
        if entry.name == "__pycache__":
            continue
        inside = {
            path.relative_to(entry.name): text for path, text in texts.items() if path.parts[0] == entry.name
        }
        if entry.name not in own:
            (copy / entry.name).symlink_to(entry.path)
        elif entry.is_dir():
            _mirror(Path(entry.path), copy / entry.name, inside)
        else:
            (copy / entry.name).write_bytes(inside[Path()])

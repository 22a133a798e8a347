"""What `dynamo fix` has tried, with which runs, and what came of it."""

import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from ..analysis.source_lines import is_library
from ..findings import Finding, Remedy
from ..launch.program import Program
from ..model import Place
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
# The remedy is kept: what it is for is gone, or met less often.
KEPT: tuple[Verdict, ...] = ("cures", "helps")


@dataclass(frozen=True)
class Ran:
    """One run of the program: its recording, how it ended, and what it took, in seconds.

    `cpu_seconds` is what it and its children computed; `step_seconds` the median of its steady steps, None
    where nothing repeats. `captured_ops` are those of the first version of each frame's graphs.
    """

    recording: str
    exit_code: int | None
    signal: int | None
    seconds: float
    cpu_seconds: float
    step_seconds: float | None
    captured_ops: int | None = None


@dataclass(frozen=True)
class Patch:
    """An edited file: its path, its text before and after."""

    file: str
    before: str
    after: str


@dataclass(frozen=True)
class Trial:
    """A remedy that was tried. `before` and `after` say how often the finding was met; None where not run.

    `reason` says why, in words. `patches` are the edits that were tried, or that do the same for good;
    `called_at` the calls of torch.compile in which arguments were replaced. One that `is_earlier` was tried
    by an earlier `dynamo fix`.
    """

    remedy: Remedy
    verdict: Verdict
    reason: str
    before: int
    after: int | None = None
    runs: tuple[Ran, ...] = ()
    patches: tuple[Patch, ...] = ()
    called_at: tuple[Place, ...] = ()
    is_earlier: bool = False


@dataclass
class Fix:
    """A finding with what was tried. `kept` is the remedy to use, None where none cures it.

    `cured_by` is the number (from 1) of another fix whose remedy cures this one as well.
    """

    finding: Finding
    trials: list[Trial] = field(default_factory=list)
    kept: Trial | None = None
    cured_by: int | None = None

    @property
    def is_proven(self) -> bool:
        """Whether a run has shown a cure for it."""
        return self.kept is not None or self.cured_by is not None


@dataclass
class Fixes:
    """All that `dynamo fix` has to say of a program.

    `together` is the run with every kept remedy at once, beside eager; None where fewer than one was kept or
    the budget was over. `stopped` says why not everything was tried. With `steps`, each run was ended after
    so many. Of its output, `lines_compared` are compared; of a program that prints none, only the ending is.
    `further_runs` are those of a search for the remedy that does harm beside the others.
    `unseen` are the kinds of findings of which the program's recording cannot say that there were none.
    """

    program: str
    baseline: tuple[Ran, ...]
    fixes: list[Fix] = field(default_factory=list)
    together: Trial | None = None
    stopped: str | None = None
    steps: int | None = None
    lines_compared: int = 0
    further_runs: list[Ran] = field(default_factory=list)
    unseen: tuple[str, ...] = ()

    @property
    def is_refuted(self) -> bool:
        """Whether what is kept does harm, or nothing, in the run with all of it beside eager."""
        return self.together is not None and self.together.verdict not in KEPT

    @property
    def patches(self) -> tuple[Patch, ...]:
        """The edits of all that is kept, as they were proven together."""
        return () if self.together is None or self.is_refuted else self.together.patches

    def withdraw_lines_that_never_ran(self) -> None:
        """Without the last run, settings and arguments were never tried as lines of the program's files."""
        if self.together is not None:
            return
        for fix in self.fixes:
            kept = fix.kept
            if kept is not None and kept.remedy.change is not None and kept.remedy.change.edit is None:
                fix.kept = replace(kept, patches=())
                fix.trials[fix.trials.index(kept)] = fix.kept

    def withdraw_what_is_refuted(self) -> None:
        """A remedy that is kept alone is what the last run was of: it stands or falls with it."""
        kept = [fix for fix in self.fixes if fix.kept is not None]
        if self.together is None or not self.is_refuted or len(kept) != 1:
            return
        self.withdraw(kept[0], self.together)
        self.together = replace(self.together, runs=())

    def withdraw(self, fix: Fix, because: Trial) -> None:
        """Keep the remedy of this fix no longer, nor what it cured by the way: a run with it did harm."""
        assert fix.kept is not None
        number = next(number for number, each in enumerate(self.fixes, 1) if each is fix)
        runs = (*fix.kept.runs, *because.runs)
        refuted = replace(fix.kept, verdict=because.verdict, reason=because.reason, runs=runs)
        fix.trials[fix.trials.index(fix.kept)] = refuted
        fix.kept = None
        for each in self.fixes:
            each.cured_by = None if each.cured_by == number else each.cured_by

    @property
    def runs(self) -> list[Ran]:
        """The runs of the program that were made now."""
        tried = [trial for fix in self.fixes for trial in fix.trials]
        tried += [self.together] if self.together is not None else []
        now = (ran for trial in tried if not trial.is_earlier for ran in trial.runs)
        return [*self.baseline, *now, *self.further_runs]


# The program with some of its files edited, beside the user's own, which are never touched.
#
# A folder of links to what stands beside the script stands in for the script's own folder, on `sys.path` too;
# an edited file is a copy there, and so is each folder on the way to one.


def script_of(program: Program) -> Path | None:
    """The script that a program is; None where it is a module, code or another command."""
    if not program.is_python or program.arguments[0].startswith("-"):
        return None
    script = Path(program.arguments[0])
    return script if script.is_file() and script.suffix in (".py", ".pyw", "") else None


def can_be_edited(program: Program, file: str) -> bool:
    """Whether a file is the program's script, or stands in its folder or below, and is no library's."""
    script = script_of(program)
    if script is None or not os.path.isabs(file):
        return False
    home, path = script.resolve().parent, Path(file).resolve()
    if path.suffix != ".py" or home not in path.parents or not path.is_file():
        return False
    return not is_library(Place(f"/{path.relative_to(home)}", 1))  # in an environment beside the script


def overlay(program: Program, edited: Mapping[str, str], folder: Path) -> Program:
    """Make the folder, with these files' new texts by their paths, and give the program that runs there."""
    script = script_of(program)
    assert script is not None
    home = script.resolve().parent
    # The script is always a copy: of a link, Python would take the folder that it leads to.
    texts = {Path(script.resolve().name): script.read_bytes()}
    texts |= {Path(file).resolve().relative_to(home): text.encode("utf-8") for file, text in edited.items()}
    _mirror(home, folder, texts)
    copy = folder / script.resolve().name
    return replace(program, arguments=(str(copy), *program.arguments[1:]))


def _mirror(original: Path, copy: Path, texts: Mapping[Path, bytes]) -> None:
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

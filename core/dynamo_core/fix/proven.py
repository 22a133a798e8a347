"""The proven fixes of the last `dynamo fix`, on disk, and the edits of several of them made together.

They are stored in a folder with the provenance mark of this machine and user (`launch/run.py`), so that a
folder that came with somebody else's files is never applied.
"""

import json
import shutil
from collections.abc import Collection, Sequence
from dataclasses import asdict

from ..launch.program import Program
from ..launch.run import provenance_mark
from ..model import Place
from ..recording.files import DEFAULT_FOLDER, default_folder
from ..recording.plain_files import read_plain
from ..remedies.rules import Change
from ..shared.conversion import from_json
from ..shared.errors import CannotApply, CannotRecord, os_errors_as
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import create_private
from .changes import patches, source_change
from .trial import Fix, Fixes, Patch

FOLDER = DEFAULT_FOLDER / "last-fix"
_FILE = FOLDER / "fixes.json"
_LARGEST = 64 << 20  # bytes


@dataclass(frozen=True)
class ProvenFix:
    """The patches of a fix, and what they are made from; no patches for a fix that edits no file.

    `number` is that of its action; `change` is None where none was proven.
    """

    number: int
    patches: tuple[Patch, ...]
    change: Change | None = None
    place: Place | None = None
    called_at: tuple[Place, ...] = ()


@dataclass(frozen=True)
class ProvenFixes:
    """The fixes of a program in their order, one for each finding.

    `together` are the patches of all fixes as they were proven in one run; empty where they were not.
    """

    program: Program | None
    fixes: tuple[ProvenFix, ...]
    together: tuple[Patch, ...]

    @property
    def editing(self) -> list[int]:
        """The numbers of the actions whose fixes edit files."""
        return list(dict.fromkeys(fix.number for fix in self.fixes if fix.patches))

    def of_action(self, number: int) -> list[ProvenFix]:
        """The proven fixes of an action; CannotApply where there are none."""
        fixes = [fix for fix in self.fixes if fix.number == number]
        if not fixes:
            numbers = ", ".join(map(str, dict.fromkeys(fix.number for fix in self.fixes))) or "none"
            raise CannotApply(f"there is no fix {number}: `dynamo fix` had {numbers}")
        proven = [fix for fix in fixes if fix.patches or fix.change is not None]
        if not proven:
            raise CannotApply(f"action {number} has no proven fix of its own")
        return proven

    def further(self, number: int, made: Collection[int]) -> tuple[Patch, ...] | None:
        """What fix `number` changes in files with the fixes `made`; None where they cannot be combined."""
        before = self._combined(sorted(made))
        after = self._combined(sorted({*made, number}))
        return None if before is None or after is None else self._between(before, after)

    def rest(self, made: Collection[int]) -> tuple[Patch, ...] | None:
        """What all fixes together change in files with the fixes `made`; None where that is not known."""
        before = self._combined(sorted(made))
        return None if before is None else self._between(before, self.together)

    def _combined(self, numbers: Sequence[int]) -> tuple[Patch, ...] | None:
        """The patches of several fixes made together in the original files, as `dynamo fix` makes them."""
        fixes = [fix for fix in self.fixes if fix.number in numbers]
        if self.program is None:
            return None
        changes = [source_change(fix.place, fix.change, fix.called_at) for fix in fixes if fix.change]
        return patches(self.program, changes, self._originals())

    def _originals(self) -> dict[str, str]:
        found = [patch for fix in self.fixes for patch in fix.patches]
        return {patch.file: patch.before for patch in found}

    def _between(self, before: Sequence[Patch], after: Sequence[Patch]) -> tuple[Patch, ...]:
        texts = self._originals() | {patch.file: patch.after for patch in before}
        steps = (Patch(patch.file, texts[patch.file], patch.after) for patch in after)
        return tuple(step for step in steps if step.before != step.after)


def save(fixes: Fixes, program: Program | None = None) -> None:
    """Store what `--apply` may do later, replacing what an earlier `dynamo fix` stored."""
    with os_errors_as(CannotRecord, f"cannot write {FOLDER}"):
        default_folder()
        if FOLDER.is_symlink():
            FOLDER.unlink()
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(mode=0o700)
        proven = ProvenFixes(program, tuple(map(_proven_fix, fixes.fixes)), fixes.patches)
        content = {"mark": provenance_mark(FOLDER), **asdict(proven)}
        create_private(_FILE, json.dumps(content).encode())


def _proven_fix(fix: Fix) -> ProvenFix:
    kept = fix.kept
    if kept is None:
        return ProvenFix(fix.number, ())
    return ProvenFix(fix.number, kept.patches, kept.remedy.change, fix.finding.place, kept.called_at)


def read_proven() -> ProvenFixes:
    """The stored fixes; CannotApply where there are none that were proven here."""
    try:
        saved = json.loads(read_plain(_FILE, _LARGEST))
        mark, found = saved["mark"], from_json(ProvenFixes, saved)
    except FileNotFoundError as error:
        raise CannotApply("nothing has been proven here yet; run `dynamo fix` first") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CannotApply(f"{_FILE} is damaged; run `dynamo fix` again") from error
    if mark is None or mark != provenance_mark(FOLDER):
        raise CannotApply(
            f"{FOLDER} was not made here since this machine was started; run `dynamo fix` again"
        )
    return found

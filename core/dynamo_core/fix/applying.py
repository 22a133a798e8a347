"""Apply proven fixes to the user's own files, in one step and with a patch that undoes it."""

import json
import os
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from difflib import SequenceMatcher, unified_diff
from hashlib import sha256
from io import StringIO
from itertools import chain, count
from pathlib import Path
from typing import Any

from ..recording.files import DEFAULT_FOLDER
from ..recording.plain_files import read_plain
from ..shared.errors import CannotApply
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import create_private, replace_file, replace_together
from .proven import FOLDER, read_proven
from .trial import Patch

_CONTEXT = 3  # lines, as `diff -u` has


def patch_text(patches: Sequence[Patch], *, undo: bool = False) -> str:
    """A unified diff relative to the working directory, for `patch -p1`; with `undo`, the reverse diff."""
    return "".join(line for patch in patches for line in _diff(patch, undo))


def changed_lines(patch: Patch) -> Iterator[str]:
    """The removed and added lines, as in a diff without its header."""
    for line in unified_diff(patch.before.splitlines(), patch.after.splitlines(), lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def apply_patch(text: str, patch: Patch) -> str | None:
    """The text with the patch applied where its lines are now; None unless they occur exactly once."""
    lines = _lines(text)
    for before, after in reversed(list(_hunks(patch))):
        size = len(before)
        places = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == before]
        if len(places) != 1:
            return None
        lines[places[0] : places[0] + size] = after
    return "".join(lines)


def _hunks(patch: Patch) -> Iterator[tuple[list[str], list[str]]]:
    """The lines of each change, with those around it, before and after."""
    before, after = _lines(patch.before), _lines(patch.after)
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, start, _, new_start, _), (_, _, end, _, new_end) = group[0], group[-1]
        yield before[start:end], after[new_start:new_end]


def _diff(patch: Patch, undo: bool) -> Iterator[str]:
    name = os.path.relpath(patch.file)
    before, after = (patch.after, patch.before) if undo else (patch.before, patch.after)
    for line in unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines as `patch` and git count them: unlike str.splitlines, they do not split at a form feed."""
    return StringIO(text).readlines()


_WRITTEN = FOLDER / "written.json"
_LARGEST = 1 << 20  # bytes


@dataclass(frozen=True)
class _Written:
    """What earlier `--apply` have written: the numbers of the fixes, and the digest of each file."""

    fixes: tuple[int, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)


def apply_fix(number: int) -> list[str]:
    """Apply the fixes of action `number`, and return what was done, one line for each step.

    A fix that stands beside others that were applied is made as `dynamo fix` makes them together.
    CannotApply says why it was not applied.
    """
    proven, written = read_proven(), _read_written()
    fixes = [fix for fix in proven.of_action(number) if fix.patches]
    if not fixes:
        raise CannotApply(f"fix {number} is no edit of a file: do what `dynamo fix` shows")
    made = [each for each in written.fixes if each != number]
    combined = proven.further(number, made) if made else None
    alone = fixes[0].patches if len(fixes) == 1 else proven.further(number, ())
    if not alone:
        raise CannotApply(f"the edits of fix {number} are in each other's way: run `dynamo fix` again")
    return _apply([combined or None, alone], [number], written, f"undo-fix-{number}")


def apply_all() -> list[str]:
    """Apply all fixes as they were proven together, and return what was done, one line for each step.

    CannotApply says why they were not applied.
    """
    proven, written = read_proven(), _read_written()
    if not proven.editing:
        raise CannotApply("there is no fix that edits a file: do what `dynamo fix` shows")
    if not proven.together:
        numbers = ", ".join(map(str, proven.editing))
        raise CannotApply(
            f"the fixes are not proven together: --apply one of {numbers}, then run `dynamo fix` again"
        )
    rest = proven.rest(written.fixes) if written.fixes else None
    return _apply([rest or None, proven.together], proven.editing, written, "undo-all-fixes")


def _apply(
    attempts: Sequence[Sequence[Patch] | None], numbers: Sequence[int], written: _Written, undo_name: str
) -> list[str]:
    """Make the first of the attempts that fits the files as they are now."""
    new = _first_that_fits([each for each in attempts if each is not None], written)
    undo = [Patch(file, Path(file).read_bytes().decode("utf-8"), text) for file, text in new.items()]
    undo_file = _write_undo(undo_name, patch_text(undo, undo=True))
    targets = [(Path(file).resolve(), text.encode("utf-8")) for file, text in new.items()]
    try:
        replace_together([(path, text, stat.S_IMODE(path.stat().st_mode)) for path, text in targets])
    except OSError as error:
        undo_file.unlink(missing_ok=True)
        raise CannotApply(f"cannot write {error.filename}: {error.strerror}; nothing was edited") from error
    digests = {**written.digests, **{file: _digest(text) for file, text in new.items()}}
    content = {"fixes": sorted({*written.fixes, *numbers}), "digests": digests}
    with suppress(OSError):  # only for a further --apply, which then asks for a commit first
        replace_file(_WRITTEN, json.dumps(content).encode())
    done = [f"edited {os.path.relpath(file)}" for file in new]
    return [*done, f"to undo it: patch -p1 < {undo_file}"]


def _first_that_fits(attempts: Sequence[Sequence[Patch]], written: _Written) -> dict[str, str]:
    """The new text of each file; CannotApply for the reason of the last attempt."""
    for patches in attempts[:-1]:
        with suppress(CannotApply):
            return {patch.file: _edited(patch, written.digests) for patch in patches}
    return {patch.file: _edited(patch, written.digests) for patch in attempts[-1]}


def _write_undo(stem: str, text: str) -> Path:
    """Write the undo patch to a new file of this name; earlier ones of the same name stay."""
    for name in chain([stem], (f"{stem}-{further}" for further in count(2))):
        file = DEFAULT_FOLDER / f"{name}.patch"
        try:
            create_private(file, text.encode())
        except FileExistsError:
            continue
        except OSError as error:
            raise CannotApply(f"cannot write {file}: {error.strerror}; nothing was edited") from error
        return file
    raise AssertionError("there is always a further number")


def _read_written() -> _Written:
    """What earlier `--apply` have written; nothing where that cannot be read."""
    try:
        known = json.loads(read_plain(_WRITTEN, _LARGEST))
        return _Written(tuple(map(int, known["fixes"])), dict(known["digests"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return _Written()


def _edited(patch: Patch, written: Mapping[str, Any]) -> str:
    """The file's text with the patch applied; CannotApply where that would lose or break something."""
    file = Path(patch.file)
    try:
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotApply(f"cannot read {file}: {error}") from error
    if not os.access(file, os.W_OK):
        raise CannotApply(f"{file} is read-only")
    if written.get(patch.file) != _digest(text) and _has_uncommitted_changes(file):
        raise CannotApply(
            f"{file} has changes that are not committed: commit or stash them first, or use --patch"
        )
    if apply_patch(text, Patch(patch.file, patch.after, patch.before)) is not None:
        raise CannotApply(f"{file} has this fix already")
    new = apply_patch(text, patch)
    if new is None:
        raise CannotApply(f"{file} has changed since the fix was proven; run `dynamo fix` again")
    return new


def _has_uncommitted_changes(file: Path) -> bool:
    """Whether git reports uncommitted changes; False without git or outside of a repository."""
    file = file.resolve()  # git would look at a symbolic link itself, not at the file it points to
    try:
        status = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "--", file.name],
            cwd=file.parent,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return bool(status.stdout.strip())


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()

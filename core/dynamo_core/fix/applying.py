"""Apply a proven fix to the user's own files, in one step and with a patch that undoes it.

What `dynamo fix` has proven is stored in a folder with the provenance mark of this machine and user
(`launch/run.py`), so that a folder that came with somebody else's files is never applied.
"""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from difflib import SequenceMatcher, unified_diff
from hashlib import sha256
from io import StringIO
from itertools import chain, count
from pathlib import Path
from typing import Any

from ..launch.run import provenance_mark
from ..recording.files import DEFAULT_FOLDER, default_folder
from ..recording.plain_files import read_plain
from ..shared.errors import CannotApply, CannotRecord
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import create_private, replace_file, replace_together
from .trial import Fixes, Patch

# Patches as text

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
    for hunk in reversed(list(_hunks(patch))):
        size = len(hunk.before)
        places = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == hunk.before]
        if len(places) != 1:
            return None
        lines[places[0] : places[0] + size] = hunk.after
    return "".join(lines)


@dataclass(frozen=True)
class _Hunk:
    before: list[str]
    after: list[str]


def _hunks(patch: Patch) -> Iterator[_Hunk]:
    before, after = _lines(patch.before), _lines(patch.after)
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, start, _, new_start, _), (_, _, end, _, new_end) = group[0], group[-1]
        yield _Hunk(before[start:end], after[new_start:new_end])


def _diff(patch: Patch, undo: bool) -> Iterator[str]:
    name = os.path.relpath(patch.file)
    before, after = (patch.after, patch.before) if undo else (patch.before, patch.after)
    for line in unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines as `patch` and git count them: unlike str.splitlines, they do not split at a form feed."""
    return StringIO(text).readlines()


# Proven fixes on disk, and their application

_FOLDER, _FILE, _WRITTEN = "last-fix", "fixes.json", "written.json"
_LARGEST = 64 << 20  # bytes


def save(fixes: Fixes) -> None:
    """Store what `--apply` may do later, replacing what an earlier `dynamo fix` stored."""
    folder = DEFAULT_FOLDER / _FOLDER
    try:
        default_folder()
        if folder.is_symlink():
            folder.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        edits = [
            None if fix.kept is None else [asdict(patch) for patch in fix.kept.patches] for fix in fixes.fixes
        ]
        content = json.dumps({"mark": provenance_mark(folder), "fixes": edits})
        create_private(folder / _FILE, content.encode())
    except OSError as error:
        raise CannotRecord(f"cannot write {folder}: {error.strerror}") from error


def apply_fix(number: int) -> list[str]:
    """Apply fix `number` (from 1) and return what was done, one line for each step.

    CannotApply says why it was not applied.
    """
    folder = DEFAULT_FOLDER / _FOLDER
    patches = _read_patches(folder, number)
    written = _written_digests(folder)
    new = {patch.file: _edited(patch, written) for patch in patches}
    undo = [
        Patch(patch.file, Path(patch.file).read_bytes().decode("utf-8"), new[patch.file]) for patch in patches
    ]
    undo_file = _write_undo(number, patch_text(undo, undo=True))
    targets = [(Path(file).resolve(), text.encode("utf-8")) for file, text in new.items()]
    try:
        replace_together([(path, text, stat.S_IMODE(path.stat().st_mode)) for path, text in targets])
    except OSError as error:
        undo_file.unlink(missing_ok=True)
        raise CannotApply(f"cannot write {error.filename}: {error.strerror}; nothing was edited") from error
    written |= {file: _digest(text) for file, text in new.items()}
    with suppress(OSError):  # only for a further --apply, which then asks for a commit first
        replace_file(folder / _WRITTEN, json.dumps(written).encode())
    done = [f"edited {os.path.relpath(file)}" for file in new]
    return [*done, f"to undo it: patch -p1 < {undo_file}"]


def _write_undo(number: int, text: str) -> Path:
    """Write the undo patch to a new file; undo patches of earlier fixes with this number stay."""
    stem = f"undo-fix-{number}"
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


def _read_patches(folder: Path, number: int) -> list[Patch]:
    """The stored patches of fix `number`; CannotApply where there are none."""
    try:
        saved = json.loads(read_plain(folder / _FILE, _LARGEST))
        fixes, mark = saved["fixes"], saved["mark"]
    except FileNotFoundError as error:
        raise CannotApply("nothing has been proven here yet: run `dynamo fix` first") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotApply(f"{folder / _FILE} is damaged: run `dynamo fix` again") from error
    if mark is None or mark != provenance_mark(folder):
        raise CannotApply(
            f"{folder} was not made here since this machine was started: run `dynamo fix` again"
        )
    if number > len(fixes):
        raise CannotApply(f"there is no fix {number}: `dynamo fix` had {len(fixes)}")
    if fixes[number - 1] is None:
        raise CannotApply(f"finding {number} has no proven fix of its own")
    if not fixes[number - 1]:
        raise CannotApply(f"fix {number} is no edit of a file: do what `dynamo fix` shows")
    return [Patch(**patch) for patch in fixes[number - 1]]


def _written_digests(folder: Path) -> dict[str, str]:
    """The digest of what an earlier `--apply` wrote, by the file's path."""
    try:
        known = json.loads(read_plain(folder / _WRITTEN, _LARGEST))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


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
    new = apply_patch(text, patch)
    if new is None:
        raise CannotApply(f"{file} has changed since the fix was proven: run `dynamo fix` again")
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

"""Edits of files as text: as a patch for other tools, and put into a file that has changed elsewhere."""

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from io import StringIO

from ..shared.quick_dataclass import dataclass
from .trial import Patch

_CONTEXT = 3  # lines, as `diff -u` has


def patch_text(patches: Sequence[Patch], *, undo: bool = False) -> str:
    """A unified diff from the working directory, for `patch -p1`; with `undo`, the way back."""
    return "".join(line for patch in patches for line in _diff(patch, undo))


def changed_lines(patch: Patch) -> Iterator[str]:
    """The lines that go and come, as in a diff without its head."""
    for line in unified_diff(patch.before.splitlines(), patch.after.splitlines(), lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def put_into(text: str, patch: Patch) -> str | None:
    """The text with the edit made where its lines stand now; None where that is not one place."""
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
    """As `patch` and git count lines: a form feed, at which str.splitlines parts, ends none."""
    return StringIO(text).readlines()

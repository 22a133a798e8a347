"""What differs between two lock files, or a lock file and a recording: `dynamo diff` with a lock file."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Literal

from ..analysis.findings import CONTENTS, Finding
from ..analysis.words import number
from ..model import Recording
from ..recording.read import read
from ..shared.errors import LockFileProblem
from ..shared.quick_dataclass import dataclass
from .comparison import Checked, check
from .facts import COUNTS, Facts, facts_and_findings
from .lock_file import read_lock

Verdict = Literal["nothing differs", "better", "worse", "different", "not comparable"]
_ENDINGS = (".lock", ".toml")


@dataclass(frozen=True)
class LockedDifference:
    """Programs that both sides have, and those of one alone. `findings` are a recording's, by identity."""

    programs: tuple[Checked, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    findings: Mapping[str, Finding]

    @property
    def differing(self) -> list[Checked]:
        """The programs of which a fact differs."""
        return [each for each in self.programs if each.differences]

    @property
    def verdict(self) -> Verdict:
        """As for two recordings; graphs that are more count as worse here, as they do for `dynamo check`."""
        worse, better = (any(getattr(each, way) for each in self.programs) for way in ("worse", "better"))
        if worse or better:
            return "different" if worse and better else "worse" if worse else "better"
        if self.only_before or self.only_after:
            return "different"
        is_compared = any(len(each.not_comparable) < len(COUNTS) for each in self.programs)
        return "nothing differs" if is_compared else "not comparable"

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        compared = number(len(self.programs), "program")
        if self.verdict == "not comparable":
            why = "not a count is recorded on both sides" if self.programs else "there are no programs"
            return f"Nothing can be compared: {why}"
        if self.verdict == "nothing differs":
            return f"Nothing differs ({compared} compared)"
        parts = [_differ(self.differing, len(self.programs))] if self.differing else []
        parts += [
            f"{number(len(names), 'program')} {what}"
            for names, what in ((self.only_after, "came"), (self.only_before, "went"))
            if names
        ]
        return f"{self.verdict.capitalize()}: {', '.join(parts)}"


def _differ(differing: Sequence[Checked], programs: int) -> str:
    return differing[0].program if programs == 1 else f"{len(differing)} of {programs} programs"


def is_lock_file(path: Path) -> bool:
    """Whether this is to be read as a lock file: a recording never has such a name."""
    return path.suffix in _ENDINGS and path.is_file()


def compare_with_lock(before: Path, after: Path, name: str | None) -> LockedDifference:
    """Two sides of which one is a lock file at least; `name` says which of its programs the other one is.

    Raises LockFileProblem where that is not clear, and what reading either raises.
    """
    if is_lock_file(before) and is_lock_file(after):
        was, now = read_lock(before), read_lock(after)
        return _compared(was, now, {})
    lock, other = (before, after) if is_lock_file(before) else (after, before)
    locked, recording = read_lock(lock), read(other, CONTENTS)
    facts, findings = facts_and_findings(recording)
    program = name or _program_of(recording, locked, lock)
    if program not in locked:
        raise LockFileProblem(f"{lock} has no {program!r}; it has {_listed(locked)}")
    sides = {program: locked[program]}, {program: facts}
    return _compared(*(sides if lock == before else sides[::-1]), findings)


def _compared(
    was: Mapping[str, Facts], now: Mapping[str, Facts], findings: Mapping[str, Finding]
) -> LockedDifference:
    both = [name for name in was if name in now]
    return LockedDifference(
        tuple(check(name, now[name], was[name], None) for name in both),
        tuple(name for name in was if name not in now),
        tuple(name for name in now if name not in was),
        findings,
    )


def _program_of(recording: Recording, locked: Mapping[str, Facts], lock: Path) -> str:
    """The only one, or the only one that the recording's program has the name of."""
    run = recording.run
    named = [name for name in locked if run is not None and _short(name) == run.program]
    found = list(locked) if len(locked) == 1 else named
    if len(found) != 1:
        raise LockFileProblem(f"which program of {lock} is it? Say it with --name: {_listed(locked)}")
    return found[0]


def _short(name: str) -> str:
    """A program by the name that a recording has for it: `train` for `scripts/train.py --fast`."""
    try:
        words = shlex.split(name)
    except ValueError:
        return name
    if words[:1] == ["-m"]:
        words = words[1:]
    return PurePath(words[0]).stem if words else name


def _listed(locked: Mapping[str, Facts]) -> str:
    return ", ".join(sorted(locked)) or "none"

"""`dynamo check`: the facts of a run compared with a lock file or bounds; and `dynamo diff` of lock files.

Bounds are read from `[tool.dynamo.check]` of pyproject.toml:

    [tool.dynamo.check]
    max-graph-breaks = 0
    allow = ["graph-break-0123456789ab"]

    [tool.dynamo.check.programs."tests/test_model.py"]
    max-graphs = 2
"""

import shlex
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any, Literal

from ..analysis.words import number
from ..findings import CONTENTS, Finding
from ..findings.kinds import could_be_seen, spec_of
from ..findings.matching import KnownFinding, pair_findings
from ..model import Recording
from ..recording.read import read
from ..shared.declared import NOT_IN_JSON
from ..shared.errors import LockFileProblem
from ..shared.overrides import project_settings
from ..shared.quick_dataclass import dataclass
from .lock_file import COUNTS, Facts, facts_and_findings, is_break, read_lock

Direction = Literal["worse", "better", "differs from run to run"]
_BETTER: Direction = "better"
_VARIES: Direction = "differs from run to run"


@dataclass(frozen=True)
class Difference:
    """One fact that differs. `identity` names the finding, where it is one."""

    direction: Direction
    text: str
    identity: str | None = None
    is_change_of_count: bool = field(default=False, metadata=NOT_IN_JSON)  # from that of the lock file


@dataclass(frozen=True)
class Bounds:
    """The maximum of counts, by their names, and the identities of `allowed` findings.

    Findings of a bounded count are listed as worse where the bound is broken.
    """

    most: Mapping[str, int] = field(default_factory=dict)
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Checked:
    """The verdict on one program. `not_comparable` are counts that one side did not record.

    `unbounded` are counts with a bound that could not be checked, as they were not recorded. `noted` are
    counts and functions that were not compared, as the lock file notes that they differ from run to run, and
    `new_where_noted` what is on lines of these functions that the lock file does not have.
    `is_locked` says whether there was anything to compare with, `is_accepted` that these facts were just
    written to the lock file.
    """

    program: str
    now: Facts
    is_locked: bool
    differences: tuple[Difference, ...] = ()
    not_comparable: tuple[str, ...] = ()
    unbounded: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    new_where_noted: tuple[Difference, ...] = ()
    is_accepted: bool = False

    @property
    def worse(self) -> list[Difference]:
        """What got worse."""
        return [each for each in self.differences if each.direction == "worse"]

    @property
    def better(self) -> list[Difference]:
        """What got better."""
        return [each for each in self.differences if each.direction == "better"]

    @property
    def varying(self) -> list[Difference]:
        """What differs from run to run, and the lock file does not note it."""
        return [each for each in self.differences if each.direction == "differs from run to run"]


def check(program: str, now: Facts, locked: Facts | None, bounds: Bounds | None) -> Checked:
    """Compare a run with locked facts and with bounds; either may be absent."""
    allowed = bounds.allowed if bounds is not None else frozenset()
    not_comparable: list[str] = []
    unbounded: list[str] = []
    noted: tuple[str, ...] = ()
    new_where_noted: tuple[Difference, ...] = ()
    if locked is not None:
        now = _with_new_ones_certain(now, locked)
    differences = _varying(now, locked, allowed)
    if locked is not None:
        differences += _differing_facts(now, locked, allowed)
        noted_counts = _noted_counts(locked)
        functions = sorted({_function(each) for each in _noted_findings(locked)})
        noted = (*noted_counts, *(" ".join(each) for each in functions))
        new_where_noted = tuple(_new_where_noted(now, locked, allowed))
        not_comparable += [
            name
            for name in COUNTS
            if name not in noted_counts and None in (locked.counts.get(name), now.counts.get(name))
        ]
    if bounds is not None:
        for name, most in bounds.most.items():
            is_now = now.counts.get(name)
            if is_now is None:
                not_comparable.append(name)
                unbounded.append(name)
                continue
            if name == "graph-breaks":  # other counts do not count findings
                is_now -= sum(each.identity in bounds.allowed for each in _counted(name, now))
            if is_now > most:
                differences.append(Difference("worse", f"{name}: {is_now}, at most {most} allowed"))
                if locked is None:
                    differences += _not_allowed(_counted(name, now), bounds)
    has_bounds = bounds is not None and bool(bounds.most)
    unique = tuple(dict.fromkeys(differences))
    return Checked(
        program,
        now,
        locked is not None or has_bounds,
        unique,
        tuple(dict.fromkeys(not_comparable)),
        tuple(unbounded),
        noted,
        new_where_noted,
    )


def _with_new_ones_certain(now: Facts, locked: Facts) -> Facts:
    """Facts in which a finding that every run has, and the lock file has not, does not differ."""
    added, _ = _unmatched(now, locked)
    certain = {each.identity for each in added} & now.in_every_run
    return replace(now, varying={name: how for name, how in now.varying.items() if name not in certain})


def _varying(now: Facts, locked: Facts | None, allowed: Container[str]) -> list[Difference]:
    """What differs from run to run and is neither noted in the lock file nor allowed."""
    counts = [name for name in now.varying if name in COUNTS]
    findings = [each for each in now.findings.values() if each.identity in now.varying]
    if locked is not None:
        counts = [name for name in counts if name not in _noted_counts(locked)]
        noted = _noted_findings(locked)
        # Of breaks that every run has it is said where they explain a count.
        certain = {
            each.identity
            for each in findings
            if each.identity in now.certain_breaks and not {*spec_of(each.kind).counted_in} & {*counts}
        }
        findings = [each for each in findings if each.identity not in certain and not _is_noted(each, noted)]
    findings = [each for each in findings if each.identity not in allowed]
    words = _words_of_each(findings)
    return [
        *(Difference(_VARIES, f"{name}: {now.varying[name]}") for name in counts),
        *(
            Difference(_VARIES, f"{now.varying[each.identity]}: {words[each.identity]}", each.identity)
            for each in findings
        ),
    ]


def _differing_facts(now: Facts, locked: Facts, allowed: Container[str]) -> list[Difference]:
    """What is worse or better, of what does not differ from run to run."""
    added, removed = _unmatched(now, locked)
    removed = [each for each in removed if could_be_seen(each.kind, now.count_of)]
    newly_allowed = [each for each in added if each.identity in allowed]
    varying = {*now.varying, *locked.varying, *_noted_counts(locked)}
    noted = _noted_findings(locked)
    added, removed = (
        [each for each in found if each.identity not in varying and not _is_noted(each, noted)]
        for found in (added, removed)
    )
    added = [each for each in added if each.identity not in allowed]
    words = _words_of_each((*added, *removed))
    differences = [Difference("worse", f"new: {words[each.identity]}", each.identity) for each in added]
    differs_now = {*now.varying} - {
        *_noted_counts(locked),
        "graphs",
    }  # which count what has other causes, too
    for each in removed:
        # Where the count of its kind differs between these runs, chance may have kept it out of all of them.
        is_by_chance = bool({*spec_of(each.kind).counted_in} & differs_now)
        direction, what = (_VARIES, "in none of these runs") if is_by_chance else (_BETTER, "gone")
        differences.append(Difference(direction, f"{what}: {words[each.identity]}", each.identity))
    for name in COUNTS:
        was, is_now = locked.counts.get(name), now.counts.get(name)
        if was is None or is_now is None or name in varying or was == is_now:
            continue
        if not _is_explained(newly_allowed, name, is_now - was):
            differences.append(_count_difference(name, was, is_now))
    return differences


def _noted_counts(locked: Facts) -> list[str]:
    """The counts that a lock file notes to differ from run to run, or that include a finding that does."""
    kinds = [each.kind for each in _noted_findings(locked)]
    counted = {name for kind in kinds for name in spec_of(kind).counted_in}
    return [name for name in COUNTS if name in locked.varying or name in counted]


def _noted_findings(locked: Facts) -> list[KnownFinding]:
    """The findings that a lock file notes to differ from run to run."""
    noted = locked.varying.keys() - locked.certain_breaks
    return [each for each in locked.findings.values() if each.identity in noted]


def _new_where_noted(now: Facts, locked: Facts, allowed: Container[str]) -> Iterator[Difference]:
    """What a note covers for its function alone, on a line that has no finding in the lock file."""
    lines = {(_function(each), each.line) for each in locked.findings.values()}
    noted = _noted_findings(locked)
    new = [
        each
        for each in _unmatched(now, locked)[0]
        if _is_noted(each, noted)
        and each.identity not in allowed
        and (_function(each), each.line) not in lines
    ]
    words = _words_of_each(new)
    for each in new:
        yield Difference(_VARIES, f"new: {words[each.identity]}", each.identity)


def _is_noted(finding: KnownFinding, noted: Sequence[KnownFinding]) -> bool:
    """Whether a note covers a finding: those on its line, and in its function all but graph breaks.

    Another run may recompile there for other reasons; a break on another line is another break.
    """
    return any(
        _function(each) == _function(finding) and (each.line == finding.line or not is_break(finding.kind))
        for each in noted
    )


def _function(finding: KnownFinding) -> tuple[str, str]:
    return finding.file, finding.function


def _is_explained(allowed: Sequence[KnownFinding], name: str, more: int) -> bool:
    """Whether allowed findings may explain that a count rose by so many: a break makes more graphs too."""
    counted = sum(name in spec_of(each.kind).counted_in for each in allowed)
    return more > 0 and counted > 0 and (name != "graph-breaks" or more <= counted)


def _count_difference(name: str, was: int, is_now: int) -> Difference:
    if name == "graphs" and is_now == 0:
        return Difference("worse", f"{name}: {was} → 0, nothing is compiled any more")
    direction: Direction = "worse" if is_now > was else "better"
    return Difference(direction, f"{name}: {was} → {is_now}", is_change_of_count=True)


def _counted(name: str, now: Facts) -> list[KnownFinding]:
    """The findings that a count includes."""
    return [each for each in now.findings.values() if name in spec_of(each.kind).counted_in]


def findings_not_allowed(kind: str, now: Facts, bounds: Bounds | None) -> list[Difference]:
    """The findings of a kind that are not allowed, locked or not."""
    return _not_allowed([each for each in now.findings.values() if each.kind == kind], bounds)


def _not_allowed(findings: Sequence[KnownFinding], bounds: Bounds | None) -> list[Difference]:
    allowed = frozenset() if bounds is None else bounds.allowed
    found = [each for each in findings if each.identity not in allowed]
    words = _words_of_each(found)
    return [Difference("worse", words[each.identity], each.identity) for each in found]


def _unmatched(now: Facts, locked: Facts) -> tuple[list[KnownFinding], list[KnownFinding]]:
    """The findings of one side alone: added ones, and removed ones.

    What the lock file notes to differ from run to run is paired in its own function alone: where this run
    does not have it, the same line in another function is new.
    """
    noted = {each.identity for each in _noted_findings(locked)}
    pairs = {
        was: is_now
        for was, is_now in pair_findings(locked.findings.values(), now.findings.values()).items()
        if was not in noted or _function(locked.findings[was]) == _function(now.findings[is_now])
    }
    paired = set(pairs.values())
    return (
        [each for identity, each in now.findings.items() if identity not in paired],
        [each for identity, each in locked.findings.items() if identity not in pairs],
    )


def _words(finding: KnownFinding) -> str:
    where = " ".join(part for part in (finding.file, finding.function) if part)
    line = f": {finding.line}" if finding.line else ""
    return f"{finding.kind} in {where or 'the program'}{line}"


def _words_of_each(findings: Sequence[KnownFinding]) -> dict[str, str]:
    """Each finding in words, by its identity; with its cause, or a number, where others have the same."""
    words = {each.identity: _words(each) for each in findings}
    counts = Counter(words.values())
    for each in findings:
        if counts[words[each.identity]] > 1 and each.cause:
            words[each.identity] += f" ({each.cause})"
    counts, met = Counter(words.values()), Counter[str]()
    for identity, text in words.items():
        if counts[text] > 1:
            met[text] += 1
            words[identity] = f"{text} ({met[text]} of {counts[text]} such lines)"
    return words


# Counts by the keys of their bounds.
_MOST = {f"max-{name}": name for name in COUNTS}


@dataclass(frozen=True)
class ProjectBounds:
    """The bounds of a project: for all of its programs, and by patterns of program names."""

    for_all: Bounds | None = None
    by_pattern: Mapping[str, Bounds] = field(default_factory=dict)

    def of(self, program: str) -> Bounds | None:
        """The bounds for a program; None where there are none."""
        bounds = self.for_all
        for pattern, further in self.by_pattern.items():
            if program == pattern or fnmatchcase(
                program, pattern
            ):  # brackets in a test's name are no pattern
                bounds = merge_bounds(bounds, further)
        return bounds


def bounds_of_project(folder: Path) -> ProjectBounds:
    """The bounds in the nearest pyproject.toml; LockFileProblem where they cannot be read."""
    project = project_settings(folder)
    if project is None:
        return ProjectBounds()
    file, ours = project
    table = ours.get("check")
    if table is None:
        return ProjectBounds()
    programs = table.get("programs", {}) if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(programs, dict):
        raise LockFileProblem(f"{file}: [tool.dynamo.check] is no table of settings")
    own = {name: value for name, value in table.items() if name != "programs"}
    return ProjectBounds(
        _bounds(f"{file}: [tool.dynamo.check]", own) if own else None,
        {
            pattern: _bounds(f"{file}: [tool.dynamo.check.programs.{pattern!r}]", each)
            for pattern, each in programs.items()
        },
    )


def merge_bounds(first: Bounds | None, second: Bounds | None) -> Bounds | None:
    """Both bounds merged; where they differ, the second."""
    if first is None or second is None:
        return first or second
    return Bounds({**first.most, **second.most}, first.allowed | second.allowed)


def _bounds(where: str, table: Any) -> Bounds:
    if not isinstance(table, Mapping):
        raise LockFileProblem(f"{where} is no table")
    unknown = sorted(set(table) - set(_MOST) - {"allow"})
    if unknown:
        known = ", ".join([*_MOST, "allow"])
        raise LockFileProblem(f"{where} has {unknown[0]!r}, which is not known; known are {known}")
    allowed = table.get("allow", [])
    if not isinstance(allowed, list) or not all(isinstance(each, str) for each in allowed):
        raise LockFileProblem(f"{where}: allow is not a list of identities")
    most = {_MOST[name]: value for name, value in table.items() if name in _MOST}
    for name, value in most.items():
        if type(value) is not int or value < 0:
            raise LockFileProblem(f"{where}: max-{name} is not a number from 0")
    return Bounds(most, frozenset(allowed))


Verdict = Literal["nothing differs", "better", "worse", "different", "not comparable"]
_ENDINGS = (".lock", ".toml")


@dataclass(frozen=True)
class LockedDifference:
    """Programs of both sides, and programs of one side. `findings` are the recording's, by identity."""

    programs: tuple[Checked, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    findings: Mapping[str, Finding]

    @property
    def differing(self) -> list[Checked]:
        """The programs that differ in some fact."""
        return [each for each in self.programs if each.differences]

    @property
    def verdict(self) -> Verdict:
        """The verdict as for two recordings, but more graphs count as worse, as in `dynamo check`."""
        worse, better = (any(getattr(each, way) for each in self.programs) for way in ("worse", "better"))
        if worse or better:
            return "different" if worse and better else "worse" if worse else "better"
        if self.only_before or self.only_after or self.differing:
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
        differing = self.differing
        several = f"{len(differing)} of {len(self.programs)} programs"
        parts = [differing[0].program if len(self.programs) == 1 else several] if differing else []
        parts += [
            f"{number(len(names), 'program')} {what}"
            for names, what in ((self.only_after, "came"), (self.only_before, "went"))
            if names
        ]
        return f"{self.verdict.capitalize()}: {', '.join(parts)}"


def is_lock_file(path: Path) -> bool:
    """Whether to read this as a lock file: a recording never has such a name."""
    return path.suffix in _ENDINGS and path.is_file()


def compare_with_lock(before: Path, after: Path, name: str | None) -> LockedDifference:
    """Compare two sides, at least one a lock file; `name` says which of its programs a recording is of.

    Raises LockFileProblem where that is ambiguous, and what reading either side raises.
    """
    if is_lock_file(before) and is_lock_file(after):
        was, now = read_lock(before), read_lock(after)
        return _compare_facts(was, now, {})
    lock, other = (before, after) if is_lock_file(before) else (after, before)
    locked, recording = read_lock(lock), read(other, CONTENTS)
    facts, findings = facts_and_findings(recording)
    program = name or _program_of(recording, locked, lock)
    if program not in locked:
        raise LockFileProblem(f"{lock} has no {program!r}; it has {_listed(locked)}")
    sides = {program: locked[program]}, {program: facts}
    return _compare_facts(*(sides if lock == before else sides[::-1]), findings)


def _compare_facts(
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
    """The lock file's only program, or the only one with the name of the recording's program."""
    run = recording.run
    named = [name for name in locked if run is not None and _short(name) == run.program]
    found = list(locked) if len(locked) == 1 else named
    if len(found) != 1:
        raise LockFileProblem(f"which program of {lock} is it? Say it with --name: {_listed(locked)}")
    return found[0]


def _short(name: str) -> str:
    """The name that a recording gives a program: `train` for `scripts/train.py --fast`."""
    try:
        words = shlex.split(name)
    except ValueError:
        return name
    if words[:1] == ["-m"]:
        words = words[1:]
    return PurePath(words[0]).stem if words else name


def _listed(locked: Mapping[str, Facts]) -> str:
    return ", ".join(sorted(locked)) or "none"

"""The facts that `dynamo check` locks (counts and findings), and the lock file that stores them.

The file is TOML with a table for each program and a line for each fact, sorted, so that people can read,
review and merge it. It has no absolute path, no time and nothing of the machine.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from ..analysis.figures import Figures
from ..analysis.summary import summarize
from ..findings import ANALYSES_OF_THE_COMPILER, Draft, Finding, find, find_identities
from ..findings.kinds import spec_of
from ..findings.matching import KnownFinding, known_finding
from ..model import Recording
from ..shared.errors import LockFileProblem, os_errors_as
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import replace_in_one_step

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


# Names of counts in the lock file, in its order, and the field of `Summary` that each is.
COUNTS: Mapping[str, str] = {
    "graphs": "graphs",
    "graph-breaks": "distinct_graph_breaks",
    "recompiles": "recompiles",
    "frames-run-eager": "frames_fell_back",
}


@dataclass(frozen=True)
class Facts:
    """The facts of one program. A count is None where it was not recorded.

    `varying` are the counts, by name, and the findings, by identity, that differ from run to run, with how
    they do in words; the counts of several runs are the largest of each. `in_every_run` are those of
    these findings that no run lacks: of a graph break among them it is a fact that it is there.
    """

    counts: Mapping[str, int | None]
    findings: Mapping[str, KnownFinding] = field(default_factory=dict)
    varying: Mapping[str, str] = field(default_factory=dict)
    in_every_run: frozenset[str] = frozenset()

    @property
    def number(self) -> int:
        """The number of lines that the facts take in the lock file."""
        return sum(count is not None for count in self.counts.values()) + len(self.findings)

    def count_of(self, field: str) -> int | None:
        """A count by its name in `Summary`; None also for counts that a lock file does not have."""
        return next((self.counts.get(name) for name, known in COUNTS.items() if known == field), None)

    @property
    def certain_breaks(self) -> frozenset[str]:
        """The identities of graph breaks that every run has, though not equally often."""
        return frozenset(identity for identity in self.in_every_run if is_break(self.findings[identity].kind))

    @property
    def is_empty(self) -> bool:
        """Whether it is known that nothing was compiled and no compile was tried."""
        return not self.findings and all(count == 0 for count in self.counts.values())


def is_break(kind: str) -> bool:
    """Whether findings of a kind are counted as graph breaks."""
    return "graph-breaks" in spec_of(kind).counted_in


def facts_of(recording: Recording) -> Facts:
    """The facts of a recording, without the findings' texts, which takes less time."""
    return _facts(recording, find_identities(Figures(recording), ANALYSES_OF_THE_COMPILER))


def facts_and_findings(recording: Recording) -> tuple[Facts, dict[str, Finding]]:
    """The facts of a recording, and its findings by identity; the worst first in both."""
    findings = {each.identity: each for each in find(recording, analyses=ANALYSES_OF_THE_COMPILER)}
    return _facts(recording, findings), findings


def facts_of_runs(runs: Sequence[tuple[Facts, Mapping[str, Finding]]]) -> tuple[Facts, dict[str, Finding]]:
    """The facts of several runs of one program, with what differs between them, and all findings by identity.

    Each finding is as the first run with it has it.
    """
    counts: dict[str, int | None] = {}
    varying: dict[str, str] = {}
    in_every_run: set[str] = set()
    for name in COUNTS:
        known = [count for facts, _ in runs if (count := facts.counts.get(name)) is not None]
        counts[name] = max(known) if len(known) == len(runs) else None
        if counts[name] is not None and len(set(known)) > 1:
            varying[name] = f"{_range(known)} in {len(runs)} runs"
    findings = {identity: each for _, found in reversed(runs) for identity, each in found.items()}
    for identity, finding in findings.items():
        met = [found[identity].evidence.times for _, found in runs if identity in found]
        is_counted = any(name in varying for name in spec_of(finding.kind).counted_in)
        if len(met) < len(runs):
            varying[identity] = f"in {len(met)} of {len(runs)} runs"
        elif is_counted and len(set(met)) > 1:
            varying[identity] = f"{_range(met)} times in {len(runs)} runs"
            in_every_run.add(identity)
    known_findings = {identity: each for facts, _ in runs for identity, each in facts.findings.items()}
    return Facts(counts, known_findings, varying, frozenset(in_every_run)), findings


def _range(numbers: Sequence[int]) -> str:
    return f"{min(numbers)} to {max(numbers)}"


def _facts(recording: Recording, findings: Mapping[str, Draft | Finding]) -> Facts:
    summary = summarize(recording)
    counts = {name: getattr(summary, field) for name, field in COUNTS.items()}
    return Facts(counts, {identity: known_finding(identity, each) for identity, each in findings.items()})


VERSION = 1
DEFAULT_FILE = Path("dynamo.lock")
_LARGEST = 64 << 20  # bytes
_HEAD = (
    "# What torch.compile made of each program; `dynamo check` compares, `dynamo check --update` writes it.\n"
)
_VARIES = "differs from run to run"  # in place of a count, and behind the parts of a finding
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_MARKERS = ("<<<<<<<", "=======", ">>>>>>>")


def read_lock(file: Path) -> dict[str, Facts]:
    """The facts of each program; none where there is no file. LockFileProblem says what is wrong with it."""
    try:
        if file.stat().st_size > _LARGEST:
            raise LockFileProblem(f"{file} is larger than any lock file")
        text = file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise LockFileProblem(f"cannot read {file}: {error}") from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(_MARKERS):
            raise LockFileProblem(f"{file}:{number}: a merge is not resolved; resolve it, then check again")
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a plain ValueError
        raise LockFileProblem(f"{file} is no TOML: {error}") from error
    version = content.pop("version", None)
    if version != VERSION:
        raise LockFileProblem(f"{file} has version {version!r}, this dynamo reads {VERSION}")
    return {program: _facts_of_table(file, program, table) for program, table in content.items()}


def write_lock(file: Path, facts: Mapping[str, Facts]) -> None:
    """Write the facts of all programs, in one step."""
    if "version" in facts:
        raise LockFileProblem("in a lock file, `version` is no program; give it another --name")
    text = lock_text(facts)
    with os_errors_as(LockFileProblem, f"cannot write {file}"):
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
        replace_in_one_step(file, text.encode("utf-8"), mode)


def lock_text(facts: Mapping[str, Facts]) -> str:
    """The file's content."""
    lines = [_HEAD, f"version = {VERSION}\n"]
    for program in sorted(facts):
        lines.append(f"\n[{_quoted(program)}]\n")
        known = facts[program]
        varying = {name: _quoted(_VARIES) for name in known.counts if name in known.varying}
        counts = {name: count for name, count in known.counts.items() if count is not None} | varying
        lines += [f"{name} = {counts[name]}\n" for name in known.counts if name in counts]
        noted = known.varying.keys() - known.certain_breaks
        for identity in sorted(known.findings):
            parts = [*known.findings[identity].parts, *([_VARIES] if identity in noted else [])]
            key = identity if _BARE_KEY.fullmatch(identity) else _quoted(identity)
            lines.append(f"findings.{key} = [{', '.join(map(_quoted, parts))}]\n")
    return "".join(lines)


def _facts_of_table(file: Path, program: str, table: Any) -> Facts:
    where = f"{file}: [{program}]"
    if not isinstance(table, dict):
        raise LockFileProblem(f"{where} is no table")
    unknown = set(table) - set(COUNTS) - {"findings"}
    if unknown:
        raise LockFileProblem(f"{where} has {sorted(unknown)[0]!r}, which no lock file has")
    varying = {name: _VARIES for name in COUNTS if table.get(name) == _VARIES}
    counts = {name: table.get(name) for name in COUNTS if name not in varying} | dict.fromkeys(varying)
    if not all(count is None or (type(count) is int and count >= 0) for count in counts.values()):
        raise LockFileProblem(f"{where} has a count that is no number")
    findings = table.get("findings", {})
    if not isinstance(findings, dict):
        raise LockFileProblem(f"{where} has findings that are no table")
    known = {}
    for identity, parts in findings.items():
        if isinstance(parts, list) and len(parts) == 6 and parts[5] == _VARIES:
            varying[identity] = parts.pop()
        if not (isinstance(parts, list) and len(parts) == 5 and all(isinstance(part, str) for part in parts)):
            raise LockFileProblem(
                f"{where}: {identity} is not [kind, file, function, line, cause]; "
                "delete the file, then `dynamo check --update` writes it again"
            )
        known[identity] = KnownFinding(identity, *parts)
    return Facts({name: counts[name] for name in COUNTS}, known, varying)


def _quoted(text: str) -> str:
    """A TOML basic string. Its escapes are those of JSON, but TOML also requires DEL to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The lock file: a TOML table for each program, a fact a line, sorted, for people to read, review and merge.

It holds no absolute path, no time and nothing of the machine.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..shared.errors import LockFileProblem
from ..shared.safe_writing import replace_in_one_step
from .facts import COUNTS, Facts, KnownFinding

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VERSION = 1
DEFAULT_FILE = Path("dynamo.lock")
_LARGEST = 64 << 20  # bytes
_HEAD = (
    "# What torch.compile made of each program; `dynamo check` compares, `dynamo check --update` writes it.\n"
)
_FINDING_PARTS = ("kind", "file", "function", "line")
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
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a mere ValueError
        raise LockFileProblem(f"{file} is no TOML: {error}") from error
    version = content.pop("version", None)
    if version != VERSION:
        raise LockFileProblem(f"{file} has version {version!r}, this dynamo reads {VERSION}")
    return {program: _facts(file, program, table) for program, table in content.items()}


def write_lock(file: Path, facts: Mapping[str, Facts]) -> None:
    """Write them all, in one step."""
    if "version" in facts:
        raise LockFileProblem("in a lock file, `version` is no program: give it another --name")
    text = lock_text(facts)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
        replace_in_one_step(file, text.encode("utf-8"), mode)
    except OSError as error:
        raise LockFileProblem(f"cannot write {file}: {error.strerror}") from error


def lock_text(facts: Mapping[str, Facts]) -> str:
    """The file's content."""
    lines = [_HEAD, f"version = {VERSION}\n"]
    for program in sorted(facts):
        lines.append(f"\n[{_quoted(program)}]\n")
        known = facts[program]
        lines += [f"{name} = {count}\n" for name, count in known.counts.items() if count is not None]
        for identity in sorted(known.findings):
            parts = (getattr(known.findings[identity], part) for part in _FINDING_PARTS)
            key = identity if _BARE_KEY.fullmatch(identity) else _quoted(identity)
            lines.append(f"findings.{key} = [{', '.join(map(_quoted, parts))}]\n")
    return "".join(lines)


def _facts(file: Path, program: str, table: Any) -> Facts:
    where = f"{file}: [{program}]"
    if not isinstance(table, dict):
        raise LockFileProblem(f"{where} is no table")
    unknown = set(table) - set(COUNTS) - {"findings"}
    if unknown:
        raise LockFileProblem(f"{where} has {sorted(unknown)[0]!r}, which no lock file has")
    counts = {name: table.get(name) for name in COUNTS}
    if not all(count is None or (type(count) is int and count >= 0) for count in counts.values()):
        raise LockFileProblem(f"{where} has a count that is no number")
    findings = table.get("findings", {})
    if not isinstance(findings, dict):
        raise LockFileProblem(f"{where} has findings that are no table")
    known = {}
    for identity, parts in findings.items():
        if not (isinstance(parts, list) and len(parts) == 4 and all(isinstance(part, str) for part in parts)):
            raise LockFileProblem(f"{where}: {identity} is not [kind, file, function, line]")
        known[identity] = KnownFinding(identity, *parts)
    return Facts(counts, known)


def _quoted(text: str) -> str:
    """A basic string, whose escapes are those of JSON; DEL, which JSON lets stand, TOML does not."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Trials on disk, so that a `dynamo fix` that was interrupted can continue.

They are valid for the same command, settings and environment, the same Python files beside the program, the
same torch and the same dynamo. As they say "proven", they are read only with the provenance mark of this
machine and user.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from .. import __version__
from ..findings import Finding, Remedy
from ..launch.run import Request, provenance_mark
from ..recording.files import DEFAULT_FOLDER, default_folder
from ..recording.plain_files import read_plain
from ..shared.conversion import from_json
from ..shared.masking import masked_environment
from ..shared.safe_writing import replace_file
from .trial import Trial

_FOLDER, _FILE = "fix-trials", "trials.json"
_LARGEST = 64 << 20  # bytes
_LARGEST_SOURCE = 4 << 20  # bytes
_MOST_FILES = 5_000  # Python files in the program's folder; with more, no trials are stored
_MOST_ENTRIES = 50_000  # files of any kind and folders: the script may be in a home folder


class KnownTrials:
    """The stored trials of one program in its current state. A trial that cannot be read is made again."""

    def __init__(self, request: Request, torch: Sequence[str | None]) -> None:
        settings = {**request.settings._asdict(), "recording": ""}
        sources = _digest_of_sources(request)
        environment = masked_environment(os.environ)
        surroundings = [request.python, os.getcwd(), environment, list(torch), sources, __version__]
        program = [request.program.arguments, settings, surroundings]
        self._program = None if sources is None else json.dumps(program)
        self._known = {} if self._program is None else _read_trials()

    def get(self, finding: Finding, remedy: Remedy) -> tuple[Trial, frozenset[str]] | None:
        """The trial of this remedy, and the identities of all findings that it cured."""
        found = self._known.get(self._key(finding, remedy))
        if found is None:
            return None
        try:
            trial = from_json(Trial, {**found, "remedy": asdict(remedy)})
            return replace(trial, remedy=remedy, is_earlier=True), frozenset(found["cured"])
        except (KeyError, TypeError, ValueError):
            return None

    def put(self, finding: Finding, trial: Trial, cured: frozenset[str]) -> None:
        """Store a trial."""
        if self._program is None:
            return
        content = {name: value for name, value in asdict(trial).items() if name != "remedy"}
        self._known[self._key(finding, trial.remedy)] = {**content, "cured": sorted(cured)}
        folder = DEFAULT_FOLDER / _FOLDER
        try:
            default_folder()
            folder.mkdir(mode=0o700, exist_ok=True)
            text = json.dumps({"mark": provenance_mark(folder), "trials": self._known})
            replace_file(folder / _FILE, text.encode())
        except OSError:  # not needed for the current search
            pass

    def _key(self, finding: Finding, remedy: Remedy) -> str:
        change = None if remedy.change is None else asdict(remedy.change)
        return sha256(json.dumps([self._program, finding.identity, change]).encode()).hexdigest()


def _read_trials() -> dict[str, Any]:
    """The trials on disk, of all programs; none where they are damaged or not from this machine and user."""
    folder = DEFAULT_FOLDER / _FOLDER
    try:
        saved = json.loads(read_plain(folder / _FILE, _LARGEST))
        is_ours = saved["mark"] is not None and saved["mark"] == provenance_mark(folder)
        trials = saved["trials"] if is_ours else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return trials if isinstance(trials, dict) else {}


def _digest_of_sources(request: Request) -> str | None:
    """A digest of the Python files in the program's folder and below; None where they are too many."""
    digest = sha256()
    sources = _sources(Path(request.program.import_path()[0]))
    if sources is None:
        return None
    for file in sources:
        try:
            content = read_plain(file.resolve(), _LARGEST_SOURCE)
        except OSError:
            continue
        digest.update(f"{file}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def _sources(folder: Path) -> list[Path] | None:
    """The Python files in a folder and below, without hidden folders; None where there are too many."""
    found: list[Path] = []
    entries = 0
    for root, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        found += (Path(root) / name for name in sorted(files) if name.endswith(".py"))
        if len(found) > _MOST_FILES or entries > _MOST_ENTRIES:
            return None
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "site-packages")
    return found

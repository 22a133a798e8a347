"""The folder of a suite's results, with a file for each finished program; and what changed between two runs.

suite_results.json      what the folder is, and of which suite
rows/NAME.json          a program's rows, whole or not there at all
NAME/                   what its runs wrote, and their recordings
speedups.csv            all rows
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from ...recording.files import claim
from ...recording.plain_files import read_plain
from ...shared.conversion import from_json
from ...shared.errors import CannotRecord, SuiteProblem, os_errors_as
from ...shared.quick_dataclass import dataclass
from ...shared.safe_writing import replace_in_one_step
from ...shared.text import printable_json
from ..comparison import Speed
from .rows import ProgramResult, Row

MARK_FILE = "suite_results.json"
_KIND, _VERSION = "dynamo-suite-results", 1
_ROWS, RUNS = "rows", "runs"
_LARGEST = 16 << 20  # bytes of a file


class ResultsFolder:
    """A folder of results, to write to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def result(self, program: str, key: str) -> ProgramResult | None:
        """The stored result of a program measured in the same way (`key`); None where it must be measured."""
        file = self._file(program)
        if not file.exists():
            return None
        try:
            result = _read_rows(file)
        except SuiteProblem:  # damaged, so the program is measured again
            return None
        return result if result.key == key and result.program == program else None

    def keep(self, result: ProgramResult) -> None:
        """Store the rows of a program, in one step."""
        self._write(self._file(result.program), asdict(result))

    def new_folder(self, program: str) -> Path:
        """An empty folder for the files that a program's runs write."""
        folder = self.path / RUNS / program
        with os_errors_as(CannotRecord, f"cannot write to {folder}"):
            self._file(program).unlink(missing_ok=True)  # its log and recordings are removed below
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)
            folder.mkdir(0o700, parents=True)
        return folder

    def _file(self, program: str) -> Path:
        return self.path / _ROWS / f"{program}.json"

    def _write(self, file: Path, content: Any) -> None:
        with os_errors_as(CannotRecord, f"cannot write {file}"):
            file.parent.mkdir(exist_ok=True)
            replace_in_one_step(file, (json.dumps(content, indent=1) + "\n").encode("utf-8"), 0o644)

    def mark(self, suite: str) -> None:
        """Write the file that says that this is a folder of results, and of which suite."""
        about = {"schema": _KIND, "version": _VERSION, "suite": suite, "began": now()}
        self._write(self.path / MARK_FILE, about)


@contextmanager
def results_folder(path: Path, suite: str, *, starts_over: bool) -> Iterator[ResultsFolder]:
    """The results folder at `path`, made if missing; CannotRecord if it is something else, or in use."""
    folder = ResultsFolder(path)
    try:
        path.mkdir(0o700, parents=True, exist_ok=True)
        is_new = not any(path.iterdir())
    except FileExistsError as error:
        raise CannotRecord(f"{path} is no folder; name another one with --results") from error
    except OSError as error:
        raise CannotRecord(f"cannot write to {path}: {error.strerror}") from error
    if is_new:
        folder.mark(suite)
    owner = _suite_of(path)
    if owner is None:
        raise CannotRecord(f"{path} holds something else than a suite's results; name another --results")
    if owner != suite:
        raise CannotRecord(f"{path} has the results of the suite {owner!r}; name another --results")
    try:
        descriptor = claim(path, None)
    except CannotRecord as error:
        raise CannotRecord(f"{path} is in use by another `dynamo bench --suite`") from error
    try:
        for file in (path / _ROWS).glob("*.json") if starts_over else ():
            file.unlink(missing_ok=True)
        yield folder
    finally:
        os.close(descriptor)


def read_results(path: Path) -> list[ProgramResult]:
    """The results in a folder, or in a JSON report on one; SuiteProblem says why there are none."""
    if path.is_dir():
        if _suite_of(path) is None:
            raise SuiteProblem(f"{path} holds no results of a suite")
        return [_read_rows(file) for file in sorted((path / _ROWS).glob("*.json"))]
    content = _json(path)
    if not isinstance(content, dict) or content.get("schema") != "dynamo-suite":
        raise SuiteProblem(f"{path} is no JSON report of `dynamo bench --suite`")
    programs = content.get("programs")
    if not isinstance(programs, list):
        raise SuiteProblem(f"{path} is damaged: it has no programs")
    return [_result(path, each) for each in programs]


def now() -> str:
    """The current time with its zone, as text."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _read_rows(file: Path) -> ProgramResult:
    return _result(file, _json(file))


def _result(file: Path, value: Any) -> ProgramResult:
    try:
        return from_json(ProgramResult, value)
    except ValueError as error:
        raise SuiteProblem(f"{file} is damaged: {error}") from error


def _suite_of(folder: Path) -> str | None:
    """The suite whose results a folder has; None where it is no results folder."""
    try:
        content = _json(folder / MARK_FILE)
    except SuiteProblem:
        return None
    if not isinstance(content, dict) or (content.get("schema"), content.get("version")) != (_KIND, _VERSION):
        return None
    suite = content.get("suite")
    return suite if isinstance(suite, str) else None


def _json(file: Path) -> Any:
    try:
        return printable_json(read_plain(file.resolve(), _LARGEST).decode("utf-8"))
    except FileNotFoundError as error:
        raise SuiteProblem(f"there are no results at {file}") from error
    except OSError as error:
        raise SuiteProblem(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SuiteProblem(f"{file} is no JSON: {error}") from error


Change = Literal["newly failing", "slower", "gone", "faster", "passes now", "new"]
WORSE: tuple[Change, ...] = ("newly failing", "slower")


@dataclass(frozen=True)
class Difference:
    """A program under a backend that is not what it was; `problem` says why it fails now."""

    program: str
    backend: str
    change: Change
    before: Speed | None
    after: Speed | None
    problem: str | None = None


def differences(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> tuple[Difference, ...]:
    """The differences, worst first. Speed-ups are compared, as they are relative to eager on one machine.

    A change of speed is only reported beyond both intervals: not where a run has none (it had one round), nor
    across different hardware.
    """
    old, new = _by_key(before), _by_key(after)
    elsewhere = _on_other_hardware(before, after)
    found = [
        difference
        for key in (*new, *(key for key in old if key not in new))
        if (
            difference := _difference(
                *key, old.get(key), new.get(key), has_same_hardware=key[0] not in elsewhere
            )
        )
    ]
    order: list[Change] = [*WORSE, "gone", "faster", "passes now", "new"]
    return tuple(sorted(found, key=lambda each: order.index(each.change)))


def undecided(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> int:
    """How many programs under a backend passed both times, and lack an interval in one of the runs."""
    elsewhere = _on_other_hardware(before, after)
    pairs = [
        (was, now) for (program, _), was, now in _passed_twice(before, after) if program not in elsewhere
    ]
    return sum(_interval(was) is None or _interval(now) is None for was, now in pairs)


def on_other_hardware(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> int:
    """How many programs under a backend passed both times, on different hardware."""
    elsewhere = _on_other_hardware(before, after)
    return sum(program in elsewhere for (program, _), _, _ in _passed_twice(before, after))


def _on_other_hardware(before: Sequence[ProgramResult], after: Sequence[ProgramResult]) -> set[str]:
    """The programs whose hardware differs, or is not known for one run."""
    was = {result.program: result.hardware for result in before}
    return {each.program for each in after if each.program in was and each.hardware != was[each.program]}


def _passed_twice(
    before: Sequence[ProgramResult], after: Sequence[ProgramResult]
) -> Iterator[tuple[tuple[str, str], Row, Row]]:
    old = _by_key(before)
    for key, row in _by_key(after).items():
        if key in old and not row.is_eager and old[key].has_passed and row.has_passed:
            yield key, old[key], row


def _by_key(results: Sequence[ProgramResult]) -> dict[tuple[str, str], Row]:
    return {(result.program, row.backend): row for result in results for row in result.rows}


def _difference(
    program: str, backend: str, was: Row | None, now: Row | None, *, has_same_hardware: bool
) -> Difference | None:
    changes = _changes(was, now, has_same_hardware)
    change = next(changes, None)
    if change is None:
        return None
    before, after = (None if row is None else row.speed_up for row in (was, now))
    problem = None if now is None or now.has_passed else now.problem or now.agreement_detail
    return Difference(program, backend, change, before, after, problem)


def _changes(was: Row | None, now: Row | None, has_same_hardware: bool) -> Iterator[Change]:
    if was is None or now is None:
        yield "new" if was is None else "gone"
    elif was.has_passed != now.has_passed:
        yield "passes now" if now.has_passed else "newly failing"
    elif now.has_passed and has_same_hardware:
        old, new = _interval(was), _interval(now)
        if old is not None and new is not None and new[1] < old[0]:
            yield "slower"
        if old is not None and new is not None and new[0] > old[1]:
            yield "faster"


def _interval(row: Row) -> tuple[float, float] | None:
    speed = row.speed_up
    return None if speed is None or speed.low is None or speed.high is None else (speed.low, speed.high)

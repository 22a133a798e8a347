"""The autotune file: which backend won for each graph, and every measurement behind it, as readable JSON.

Written by `dynamo autotune`, read by it and, in the program's process, by the backend `autotuned`. An entry
holds for one graph (`graph_key.py`) under the conditions that it was measured under. Where the rounds do not
decide, there is none.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..shared.errors import AutotuneFileProblem
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import replace_in_one_step
from .conditions import Conditions
from .measurement import Measurement

DEFAULT_FILE = Path(".dynamo") / "autotuned.json"
_LIST_OF_NUMBERS = re.compile(r'"rounds": \[[^"{}]*\]')  # on one line, so that the file stays readable
_SCHEMA, _VERSION = "dynamo-autotuned", 2


@dataclass(frozen=True)
class Tuned:
    """What is known of one graph under these conditions. `winner` is None where nothing was decided.

    `inputs` describe its inputs in words (`f32[8, 24]`), `from_` the frame that it is from, `measured` is the
    day and time. Measurements are in the order from the simplest candidate, and were taken in turn.
    """

    key: str
    conditions: Conditions
    winner: str | None
    measurements: tuple[Measurement, ...]
    measured: str
    ops: int | None = None
    from_: str = ""
    inputs: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, Conditions]:
        """What no two entries of a file share."""
        return self.key, self.conditions

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "key": self.key,
            **self.conditions._asdict(),
            "winner": self.winner,
            "measured": self.measured,
            "from": self.from_,
            "ops": self.ops,
            "inputs": list(self.inputs),
            "measurements": [measurement.as_json() for measurement in self.measurements],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Tuned":
        """The same back again; KeyError, TypeError or ValueError if it is no such thing."""
        measurements = tuple(Measurement.from_json(each) for each in value["measurements"])
        winner = value["winner"]
        if winner not in {each.candidate for each in measurements}:
            raise ValueError(f"the winner {winner!r} was not measured")
        return cls(
            key=str(value["key"]),
            conditions=Conditions(
                str(value["device"]),
                str(value["torch"]),
                str(value["settings"]),
                tuple(map(str, value["sizes"])),
            ),
            winner=winner,
            measurements=measurements,
            measured=str(value["measured"]),
            ops=value["ops"],
            from_=str(value["from"]),
            inputs=tuple(map(str, value["inputs"])),
        )


def read(path: Path) -> list[Tuned]:
    """The entries of an autotune file; AutotuneFileProblem says what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise AutotuneFileProblem(f"there is no {path}: `dynamo autotune PROGRAM` writes it") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise AutotuneFileProblem(f"cannot read {path}: {reason}") from error
    return _entries(text, path)


def read_if_there(path: Path) -> list[Tuned]:
    """The same, of a file that need not exist yet."""
    return read(path) if os.path.lexists(path) else []


def store(path: Path, tuned: Iterable[Tuned]) -> None:
    """Add what was decided; the file is replaced as a whole.

    Where nothing was, a file without entries says so to `--backend autotuned`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(path.parent):
            before = read_if_there(path)
            entries = with_decided(before, tuned)
            if entries != before or not path.exists():
                replace_in_one_step(path, _text(entries).encode())
    except OSError as error:
        raise AutotuneFileProblem(f"cannot write {path}: {error.strerror}") from error


def with_decided(entries: Iterable[Tuned], tuned: Iterable[Tuned]) -> list[Tuned]:
    """The entries, and in the place of older ones those of `tuned` that have a winner."""
    decided = [each for each in tuned if each.winner is not None]
    return list({entry.identity: entry for entry in (*entries, *decided)}.values())


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Another autotune that stores at the same time waits; where a folder cannot be locked, it does not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def find(entries: Iterable[Tuned], key: str, conditions: Conditions) -> Tuned | None:
    """The entry for a graph under these conditions."""
    return next((entry for entry in entries if entry.identity == (key, conditions)), None)


def why_unknown(entries: Sequence[Tuned], key: str, conditions: Conditions) -> str:
    """Why there is no entry that holds for a graph, in words that follow the file's name."""
    others = [entry.conditions for entry in entries if entry.key == key]
    if not others:
        return "has no entry for this graph"
    nearest = max(others, key=lambda other: [a == b for a, b in zip(conditions, other, strict=True)])
    return f"has this graph for {conditions.difference(nearest)}"


def _text(entries: Iterable[Tuned]) -> str:
    content = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "about": "The best backend for each graph, by `dynamo autotune`; times in seconds, rounds are "
        "[forward, backward, share of the time in which something waited for a processor, whether the round "
        "counts] of one call. `dynamo run --backend autotuned` uses it.",
        "graphs": [entry.as_json() for entry in entries],
    }
    return (
        _LIST_OF_NUMBERS.sub(lambda found: " ".join(found[0].split()), json.dumps(content, indent=1)) + "\n"
    )


def _entries(text: str, path: Path) -> list[Tuned]:
    try:
        content = json.loads(text)
        is_ours = isinstance(content, dict) and content.get("schema") == _SCHEMA
    except (ValueError, RecursionError) as error:
        raise AutotuneFileProblem(
            f"{path} is damaged: it is not JSON ({error}); delete it, and autotune again"
        ) from error
    if not is_ours:
        raise AutotuneFileProblem(f"{path} is no autotune file: name another one with --autotune-file")
    if content.get("version") != _VERSION:
        raise AutotuneFileProblem(
            f"{path} is of version {content.get('version')!r}, and this dynamo reads {_VERSION}: name "
            "another one with --autotune-file, and autotune again"
        )
    try:
        return [Tuned.from_json(each) for each in content["graphs"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise AutotuneFileProblem(
            f"{path} is damaged: {type(error).__name__}: {error}; delete it, and autotune again"
        ) from error

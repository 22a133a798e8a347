"""The autotune file: which backend won for each graph, with all measurements, as readable JSON.

Written by `dynamo autotune`, read by it and, in the program's process, by the backend `autotuned`. An entry
holds for one graph (`graph_key.py`) under the conditions of its measurement. Where the rounds do not decide,
there is none.
"""

import fcntl
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from .errors import AutotuneFileProblem, os_errors_as
from .quick_dataclass import dataclass
from .safe_writing import replace_in_one_step
from .text import printable

# The outcome of one backend on one graph. All but the first say why it was not timed; an unusable backend
# cannot be used on this machine for any graph.
Verdict = Literal["agrees", "disagrees", "declined", "failed", "crashed", "timed out", "unusable"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
AGREES, DISAGREES, DECLINED, FAILED, CRASHED, TIMED_OUT, UNUSABLE = VERDICTS


class Round(NamedTuple):
    """Seconds of a call, the mean of one batch. `backward` is None where the graph does not train.

    `busy` is the share of the batch in which something waited for a processor; None where the system does not
    say. `counts` is False where waiting delayed the calls for an unknown time
    (`backends/measuring/calls.py`), where new processes did not confirm the round, and where the candidate
    was left out of it: then the values of its previous round are repeated.
    """

    forward: float
    backward: float | None
    busy: float | None = None
    counts: bool = True

    @property
    def seconds(self) -> float:
        """The seconds of the forward and the backward together."""
        return self.forward + (self.backward or 0.0)


@dataclass(frozen=True)
class Measurement:
    """One candidate on one graph. `rounds` were taken in turn with those of the other candidates.

    `reason` says why the verdict is not AGREES. `compile_seconds` ends with the first call. `is_confirmed` is
    False where different processes had different results to the end.
    """

    candidate: str
    verdict: Verdict
    reason: str | None = None
    compile_seconds: float | None = None
    rounds: tuple[Round, ...] = ()
    is_confirmed: bool = True

    @property
    def counted(self) -> list[Round]:
        """The rounds that count."""
        return [each for each in self.rounds if each.counts]

    @property
    def typical(self) -> Round | None:
        """The round of the median time, of those that count; None if there is none."""
        counted = sorted(self.counted, key=lambda each: each.seconds)
        return counted[(len(counted) - 1) // 2] if counted else None

    @property
    def seconds(self) -> float | None:
        """The seconds of a call, forward and backward, in a typical round; None if no round counts."""
        return None if self.typical is None else self.typical.seconds

    @property
    def forward_seconds(self) -> float | None:
        """The seconds of the forward in a typical round; None if no round counts."""
        return None if self.typical is None else self.typical.forward

    @property
    def backward_seconds(self) -> float | None:
        """The seconds of the backward in a typical round; None if there is none, or no round counts."""
        return None if self.typical is None else self.typical.backward

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "candidate": self.candidate,
            "verdict": self.verdict,
            "reason": self.reason,
            "seconds": _rounded(self.seconds),
            "forward_seconds": _rounded(self.forward_seconds),
            "backward_seconds": _rounded(self.backward_seconds),
            "compile_seconds": _rounded(self.compile_seconds),
            "rounds": [
                [_rounded(row.forward), _rounded(row.backward), _rounded(row.busy), row.counts]
                for row in self.rounds
            ],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Measurement":
        """The inverse of `as_json`; KeyError, TypeError or ValueError for a damaged value."""
        if value["verdict"] not in VERDICTS:
            raise ValueError(f"there is no verdict {value['verdict']!r}")
        rounds = tuple(
            Round(float(forward), _number(backward), _number(busy), bool(counts))
            for forward, backward, busy, counts in value["rounds"]
        )
        if not all(0 < each.seconds < inf for each in rounds):
            raise ValueError("a call took no time, or not a number of seconds")
        reason = value["reason"]
        return cls(
            str(value["candidate"]),
            value["verdict"],
            None if reason is None else printable(str(reason)),
            _number(value["compile_seconds"]),
            rounds,
        )


def _rounded(number: float | None) -> float | None:
    """The number with four digits, more than are reproducible."""
    return None if number is None else float(f"{number:.4g}")


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


class Conditions(NamedTuple):
    """What a measurement holds for, beside its graph; measurements under equal conditions can be compared.

    `device` has the device and its threads in words, `settings` a hash of the compilers' settings. `sizes`
    has the class of each size that is symbolic in the graph, in the order of its inputs.
    """

    device: str
    torch: str
    settings: str
    sizes: tuple[str, ...] = ()

    def difference(self, other: "Conditions") -> str:
        """How the other conditions differ, in words that follow `has this graph for`."""
        if self.device != other.device:
            return f"{other.device}, and this is {self.device}"
        if self.torch != other.torch:
            return f"torch {other.torch}, and this is {self.torch}"
        if self.settings != other.settings:
            return "other settings of torch._inductor.config, _functorch.config or deterministic algorithms"
        return f"sizes {sizes_words(other.sizes)}, and this has {sizes_words(self.sizes)}"


def device_words(kinds: Iterable[str], names: Mapping[str, str], threads: int | None) -> str:
    """The device in words: `NVIDIA H100` for a graph on a GPU, `AMD EPYC, 2 threads` for one on the CPU."""
    others = sorted(set(kinds) - {"cpu"})
    if others:
        return " and ".join(names.get(kind, kind) for kind in others)
    return f"{names['cpu']}, {threads} thread{'' if threads == 1 else 's'}"


def size_class(size: int) -> str:
    """The class of a size, between two powers of two: `64 to 127`."""
    if size < 2:
        return str(size)
    first = 1 << (size.bit_length() - 1)
    return f"{first} to {2 * first - 1}"


def sizes_words(sizes: Sequence[str]) -> str:
    """The classes of a graph's symbolic sizes, in words."""
    return ", ".join(sizes) if sizes else "that are fixed"


def cpu_model() -> str:
    """The name of this machine's processor, as the kernel or else Python has it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "CPU"


DEFAULT_FILE = Path(".dynamo") / "autotuned.json"
_LIST_OF_NUMBERS = re.compile(r'"rounds": \[[^"{}]*\]')  # on one line, so that the file stays readable
_SCHEMA, _VERSION = "dynamo-autotuned", 2


@dataclass(frozen=True)
class Tuned:
    """The measurements of one graph under these conditions. `winner` is None where nothing was decided.

    `inputs` describe its inputs in words (`f32[8, 24]`), `from_` its frame, `measured` is the day and time.
    Measurements are ordered from the simplest candidate on, and were taken in turn.
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
        """The key of an entry, unique in its file."""
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
        """The inverse of `as_json`; KeyError, TypeError or ValueError for a damaged value."""
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
    """The entries as `read` gives them; an empty list for a file that does not exist yet."""
    return read(path) if os.path.lexists(path) else []


def store(path: Path, tuned: Iterable[Tuned]) -> None:
    """Add the entries that have a winner; the file is replaced as a whole.

    Without a winner a file without entries is written, so that `--backend autotuned` finds one.
    """
    with os_errors_as(AutotuneFileProblem, f"cannot write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent):
            before = read_if_there(path)
            entries = merge_decided(before, tuned)
            if entries != before or not path.exists():
                replace_in_one_step(path, _text(entries).encode())


def merge_decided(entries: Iterable[Tuned], tuned: Iterable[Tuned]) -> list[Tuned]:
    """The entries, with those of `tuned` that have a winner added, or in place of older ones."""
    decided = [each for each in tuned if each.winner is not None]
    return list({entry.identity: entry for entry in (*entries, *decided)}.values())


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that another autotune waits to store; no lock where the file system has none."""
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

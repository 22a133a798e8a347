"""Measure one graph under every candidate: each in its own process, batches of calls taken in turn."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

from ..shared.errors import NotMeasured
from .measurement import (
    AGREES,
    CRASHED,
    DECLINED,
    DISAGREES,
    FAILED,
    NOISY,
    TIMED_OUT,
    UNUSABLE,
    Measurement,
    Round,
)
from .workers import NoAnswer, Worker

EAGER = "eager"
_ROUNDS = 20
_FEWER_ROUNDS = 8  # where a call takes so long that it makes a batch on its own
_MOST_ROUNDS = 3  # times as many, while the machine is busy, ...
_LONGEST = 10.0  # ... for so many seconds
_BATCH_SECONDS = 0.01
_VERDICTS = {"disagrees": DISAGREES, "declined": DECLINED, "failed": FAILED}


class NotRunnable(Exception):
    """The graph cannot be run outside of its program, by any candidate; `str()` says why."""


@dataclass(frozen=True)
class GraphProgram:
    """A graph to measure: the text of its program, and how torch was set when it was compiled."""

    text: str
    modes: Mapping[str, Any]
    threads: int | None = None


@dataclass
class _Place:
    """Where a candidate is measured: its process, unless it is not usable here or has none at the moment."""

    worker: Worker | None = None
    unusable: str | None = None
    hello: dict[str, Any] = field(default_factory=dict)


class Bench:
    """A process for each candidate, all alive at the same time; a context manager.

    Candidates are backends as they are named on the command line, `python` is the program's, and
    `import_path` stands first on `sys.path` in it. `time_limit`, in seconds, holds for compiling and checking
    one graph, and for each batch of calls.
    """

    def __init__(self, *, python: str, import_path: Sequence[str], time_limit: float) -> None:
        self._python = python
        self._import_path = list(import_path)
        self._time_limit = time_limit
        self._places: dict[str, _Place] = {}

    def __enter__(self) -> "Bench":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in self._places.values():
            if place.worker is not None:
                place.worker.end()

    def surroundings(self) -> tuple[str, dict[str, str]]:
        """torch's version in the program's Python, and the hardware's names; NotMeasured without torch."""
        eager = self._ready(EAGER)
        if not eager.hello:
            raise NotMeasured(f"nothing can be measured with {self._python}: {eager.unusable}")
        return eager.hello["torch"], eager.hello["hardware"]

    def why_unusable(self, candidate: str) -> str | None:
        """Why a candidate cannot be used here for any graph; None if it can."""
        return self._ready(candidate).unusable

    def unusable(self) -> dict[str, str]:
        """The candidates that were found not to be usable, and why."""
        return {name: place.unusable for name, place in self._places.items() if place.unusable is not None}

    def measure(
        self,
        program: GraphProgram,
        candidates: Iterable[str],
        tell: Callable[[str], None] = lambda what: None,
    ) -> list[Measurement]:
        """Measure `candidates` on one graph, in their order. `tell` is given what begins, in a few words.

        NotRunnable if the graph cannot be run outside of its program.
        """
        results: dict[str, Measurement] = {}
        calls: dict[str, int] = {}
        candidates = list(candidates)
        for candidate in candidates:
            tell(f"compiling with {candidate}")
            results[candidate], seconds = self._prepare(candidate, program)
            if seconds is not None:
                calls[candidate] = max(1, round(_BATCH_SECONDS / max(seconds, 1e-9)))
        rounds = _ROUNDS if all(number > 1 for number in calls.values()) else _FEWER_ROUNDS
        until = time.monotonic() + _LONGEST
        for done in range(_MOST_ROUNDS * rounds):
            if _is_enough(done, rounds, [results[each] for each in calls], time.monotonic() >= until):
                break
            for candidate in list(calls):
                tell(f"timing {candidate}")
                answer = self._ask(candidate, {"do": "time", "calls": calls[candidate]})
                if isinstance(answer, Measurement) or answer["status"] != "timed":
                    results[candidate] = _failure(candidate, answer)
                    del calls[candidate]
                    continue
                timed = Round(answer["forward_seconds"], answer["backward_seconds"])
                before = results[candidate]
                results[candidate] = replace(before, rounds=(*before.rounds, timed))
        return [results[candidate] for candidate in candidates]

    def _prepare(self, candidate: str, program: GraphProgram) -> tuple[Measurement, float | None]:
        """What came of compiling and checking; and seconds of a call if it can be timed."""
        place = self._ready(candidate)
        if place.unusable is not None:
            return Measurement(candidate, UNUSABLE, place.unusable), None
        request = {
            "do": "prepare",
            "program": program.text,
            "modes": dict(program.modes),
            "threads": program.threads,
        }
        answer = self._ask(candidate, request)
        if isinstance(answer, Measurement):
            return answer, None
        if answer["status"] == "not runnable":
            raise NotRunnable(answer["reason"])
        if answer["status"] != "ready":
            return _failure(candidate, answer), None
        return Measurement(candidate, AGREES, None, answer["compile_seconds"]), answer["call_seconds"]

    def _ask(self, candidate: str, request: dict[str, Any]) -> dict[str, Any] | Measurement:
        """The answer; or what it means that there is none."""
        worker = self._places[candidate].worker
        assert worker is not None
        try:
            return worker.ask(request, self._time_limit)
        except NoAnswer as error:
            self._places[candidate].worker = None
            return Measurement(candidate, CRASHED if error.crashed else TIMED_OUT, str(error))

    def _ready(self, candidate: str) -> _Place:
        """The candidate's place, with a process in it if the candidate is usable."""
        place = self._places.setdefault(candidate, _Place())
        if place.worker is None and place.unusable is None:
            worker = Worker(self._python, candidate, self._import_path)
            try:
                place.hello = worker.hello()
            except NoAnswer as error:
                place.unusable = str(error)
                return place
            if "torch" not in place.hello:
                place.unusable, place.hello = str(place.hello.get("reason")), {}
                worker.end()
                return place
            place.unusable = place.hello["unusable"]
            if place.unusable is None:
                place.worker = worker
            else:
                worker.end()
        return place


def _is_enough(done: int, rounds: int, measured: Sequence[Measurement], is_late: bool) -> bool:
    if done < (_FEWER_ROUNDS if is_late else rounds):
        return False
    return is_late or not any((each.noise or 0) > NOISY for each in measured)


def _failure(candidate: str, answer: dict[str, Any] | Measurement) -> Measurement:
    if isinstance(answer, Measurement):
        return answer
    return Measurement(candidate, _VERDICTS.get(answer["status"], FAILED), answer["reason"])

"""Measure one graph under every candidate, each in its own process, in rounds; and decide which one wins.

A round has a batch of calls for each candidate. Rounds continue until they decide which candidate wins, or
the budget is spent. A close win is confirmed by equally many rounds in new processes; if these disagree,
measuring continues with them.

Candidates are compared pairwise, round by round. A candidate wins if every simpler one is slower by more than
MARGIN, and no other is faster (`standing`), with the confidence SURE. Where there is none, the rounds do not
decide, and more of them may; of two that take the same time, the simpler one wins then.

Two processes that run the same code can differ for as long as they live, perhaps by where their memory lies:
a factor of 1.9 was seen. So a winner that is ahead by less than CLOSE has to be ahead in other processes as
well (`to_confirm`).
"""

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, NamedTuple

from ...shared.errors import NotMeasured
from ...shared.quick_dataclass import dataclass
from ...shared.timing import SURE, Ratio, ratio_of
from ...shared.winners import (
    AGREES,
    CRASHED,
    DECLINED,
    DISAGREES,
    FAILED,
    TIMED_OUT,
    UNUSABLE,
    Measurement,
    Round,
)
from .workers import NoAnswer, Worker

# A candidate must save more than this share of a simpler one's time.
MARGIN = 0.03
# A lead over a simpler candidate that is less than this may be due to the processes.
CLOSE = 1.0
# The least number of rounds, valid for both, by which two candidates are compared.
LEAST_PAIRS = 5

Standing = Literal["winner", "no faster", "slower", "undecided"]


@dataclass(frozen=True)
class Decision:
    """The `winner`; or None, and the candidates `between` which the rounds do not decide.

    `between` is empty where no candidate could be used.
    """

    winner: str | None
    between: tuple[str, ...] = ()


def decide(measurements: Sequence[Measurement]) -> Decision:
    """Decide by measurements in order from the simplest candidate. A single one wins without any rounds."""
    sound = [each for each in measurements if each.verdict == AGREES]
    for position, candidate in enumerate(sound):
        is_better = all(is_far_behind(each, candidate) for each in sound[:position])
        others = [standing(each, candidate) for each in sound[position + 1 :]]
        if is_better and "undecided" not in others and candidate.is_confirmed:
            return Decision(candidate.candidate)
    unconfirmed = tuple(each.candidate for each in sound if not each.is_confirmed)
    best = fastest(sound)
    between = unconfirmed or tuple(each.candidate for each in sound if not is_far_behind(each, best))
    return Decision(None, between)


def cannot_win(measurements: Sequence[Measurement]) -> set[str]:
    """The candidates that no further round can make win: slower than all open ones by more than MARGIN."""
    decision = decide(measurements)
    sound = [each for each in measurements if each.verdict == AGREES]
    open_ = [each for each in sound if each.candidate in decision.between]
    return {
        each.candidate
        for each in sound
        if each not in open_ and all(is_far_behind(each, other) for other in open_)
    }


def to_confirm(measurements: Sequence[Measurement]) -> list[str]:
    """The simpler candidates close behind the winner, and the winner; empty where there are none."""
    sound = [each for each in measurements if each.verdict == AGREES]
    winner = next((each for each in sound if each.candidate == decide(sound).winner), None)
    if winner is None:
        return []
    close = [each for each in sound[: sound.index(winner)] if _lead(winner, each) < CLOSE]
    return [each.candidate for each in (*close, winner)] if close else []


def _lead(winner: Measurement, other: Measurement) -> float:
    """By which share of the winner's time the other one is slower; 0 where that is not known."""
    ratio = time_ratio(other, winner)
    return 0.0 if ratio is None else ratio.estimate - 1


def is_far_behind(candidate: Measurement, other: Measurement | None) -> bool:
    """Whether a candidate is slower than another by more than MARGIN, beyond doubt."""
    return (
        other is not None
        and candidate is not other
        and standing(candidate, other) == "slower"
        and (ratio := time_ratio(candidate, other)) is not None
        and ratio.low > 1 + MARGIN
    )


def fastest(measurements: Sequence[Measurement]) -> Measurement | None:
    """The measurement with the shortest typical round; None if no round is valid."""
    timed = [each for each in measurements if each.seconds is not None]
    return min(timed, key=lambda each: each.seconds or 0.0, default=None)


def standing(candidate: Measurement, best: Measurement) -> Standing:
    """How a candidate compares with the one that may be the best.

    A candidate is slower if it takes longer beyond doubt. It is no faster if it was not measured to be faster
    by more than MARGIN, and beyond doubt is not faster by more than twice MARGIN. (With MARGIN for both, no
    number of rounds could decide between two that differ by exactly MARGIN.)
    """
    if candidate is best:
        return "winner"
    ratio = time_ratio(candidate, best)
    if ratio is None or ratio.rounds < LEAST_PAIRS or candidate.seconds is None or best.seconds is None:
        return "undecided"
    if ratio.low > 1 and candidate.seconds > best.seconds:
        return "slower"
    is_no_faster = ratio.estimate >= 1 - MARGIN and ratio.low >= 1 - 2 * MARGIN
    return "no faster" if is_no_faster else "undecided"


def time_ratio(candidate: Measurement, other: Measurement) -> Ratio | None:
    """How many times as long a candidate takes as another, by rounds valid for both; None without any."""
    pairs = [
        (mine.seconds, theirs.seconds)
        for mine, theirs in zip(candidate.rounds, other.rounds, strict=False)
        if mine.counts and theirs.counts
    ]
    return ratio_of(pairs, SURE)


EAGER = "eager"
DEFAULT_BUDGET = 20.0  # seconds
_LEAST_ROUNDS = 12
_FEWER_ROUNDS = 6  # where a single call is long enough for a batch, or the budget is spent
_DECIDE_EVERY = 4  # rounds
_BATCH_SECONDS = 5e-3
_VERDICTS = {"disagrees": DISAGREES, "declined": DECLINED, "failed": FAILED}


class NotRunnable(Exception):
    """The graph cannot be run outside of its program by any candidate; the text says why."""


@dataclass(frozen=True)
class GraphProgram:
    """A graph to measure: the text of its program, and torch's settings when it was compiled."""

    text: str
    modes: Mapping[str, Any]
    threads: int | None = None


class Surroundings(NamedTuple):
    """Torch's version, the key of its compilers' settings, and the names of the hardware."""

    torch: str
    settings: str
    hardware: Mapping[str, str]


class _Timed(NamedTuple):
    """A timed batch, and the processor on which it ran; None where several threads compute."""

    round: Round
    processor: int | None


@dataclass
class _Place:
    """The process of a candidate; None where it is unusable here or is not running at the moment."""

    worker: Worker | None = None
    unusable: str | None = None
    hello: dict[str, Any] = field(default_factory=dict)


class Bench:
    """A context manager with a process for each candidate, all alive at the same time.

    Candidates are backends as they are named on the command line, `python` is the program's, and
    `import_path` comes first on `sys.path` in it. `time_limit`, in seconds, applies to compiling and checking
    one graph, and to each batch of calls; `budget` to the rounds of one graph.
    """

    def __init__(
        self, *, python: str, import_path: Sequence[str], time_limit: float, budget: float = DEFAULT_BUDGET
    ) -> None:
        self._python = python
        self._import_path = list(import_path)
        self._time_limit = time_limit
        self._budget = budget
        self._places: dict[str, _Place] = {}

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *exception: object) -> None:
        for place in self._places.values():
            if place.worker is not None:
                place.worker.end()

    def surroundings(self) -> Surroundings:
        """The torch and hardware of the program's Python; NotMeasured without torch."""
        eager = self._ready(EAGER)
        if not eager.hello:
            raise NotMeasured(f"nothing can be measured with {self._python}: {eager.unusable}")
        return Surroundings(eager.hello["torch"], eager.hello["settings"], eager.hello["hardware"])

    def why_unusable(self, candidate: str) -> str | None:
        """Why a candidate cannot be used here for any graph; None if it can."""
        return self._ready(candidate).unusable

    def unusable(self) -> dict[str, str]:
        """Why candidates were found to be unusable, by their names."""
        return {name: place.unusable for name, place in self._places.items() if place.unusable is not None}

    def measure(
        self,
        program: GraphProgram,
        candidates: Iterable[str],
        tell: Callable[[str], None] = lambda what: None,
    ) -> list[Measurement]:
        """Measure `candidates` on one graph, in order from the simplest. `tell` gets what begins.

        NotRunnable if the graph cannot be run outside of its program.
        """
        results: dict[str, Measurement] = {}
        batches: dict[str, int] = {}  # calls of a batch, for each candidate that can be timed
        candidates = list(candidates)
        for candidate in candidates:
            tell(f"compiling with {candidate}")
            results[candidate], seconds = self._prepare(candidate, program)
            if seconds is not None:
                batches[candidate] = _calls_of_a_batch(seconds)
        until = time.monotonic() + self._budget
        open_ = dict(batches)
        while open_:
            self._take_turns(open_, results, until, tell)
            close = to_confirm(list(results.values()))
            if not close or self._is_confirmed(close, program, open_, results, tell):
                break
            if time.monotonic() >= until:
                for candidate in close:  # no two sets of processes agreed
                    results[candidate] = replace(results[candidate], is_confirmed=False)
                break
            sound = {each: calls for each, calls in batches.items() if results[each].verdict == AGREES}
            open_ = sound | open_
            _align(open_, results)
        return [results[candidate] for candidate in candidates]

    def _take_turns(
        self,
        calls: dict[str, int],
        results: dict[str, Measurement],
        until: float,
        tell: Callable[[str], None],
    ) -> None:
        """Take rounds of all candidates in `calls`, until they decide or the budget is spent."""
        least = _LEAST_ROUNDS if all(number > 1 for number in calls.values()) else _FEWER_ROUNDS
        for done in itertools.count():
            is_late = time.monotonic() >= until
            if not calls or (is_late and done >= _FEWER_ROUNDS):
                break
            if done >= least and done % _DECIDE_EVERY == 0:
                if decide(list(results.values())).winner is not None:
                    break
                for candidate in cannot_win(list(results.values())) & set(calls):
                    del calls[candidate]  # leaves more rounds for the open candidates
            self._round(calls, results, done, tell)

    def _is_confirmed(
        self,
        close: Sequence[str],
        program: GraphProgram,
        open_: dict[str, int],
        results: dict[str, Measurement],
        tell: Callable[[str], None],
    ) -> bool:
        """Confirm a winner by as many rounds again, in new processes for it and those `close` behind it.

        If it does not win the new rounds, those of the old processes do not count any more, and it is not
        confirmed. It is not confirmed either if all rounds together do not decide.
        """
        winner = close[-1]
        rounds = max(_FEWER_ROUNDS, min(len(results[each].counted) for each in close))
        before = max(len(results[each].rounds) for each in close)
        again: dict[str, int] = {}
        for candidate in close:
            tell(f"confirming {candidate}")
            self._end(candidate)
            open_.pop(candidate, None)
            measured = _padded(results[candidate], before)
            results[candidate], seconds = self._prepare(candidate, program)
            if seconds is not None:
                results[candidate] = measured
                again[candidate] = _calls_of_a_batch(seconds)
        for number in range(rounds):
            self._round(again, results, number)
        open_ |= again
        second = [replace(results[each], rounds=results[each].rounds[before:]) for each in again]
        if decide(second).winner == winner:
            return decide(list(results.values())).winner == winner
        for candidate in again:
            results[candidate] = _discounted(results[candidate], before)
        return False

    def _end(self, candidate: str) -> None:
        """End the process of a candidate; the next request starts another one."""
        place = self._places[candidate]
        if place.worker is not None:
            place.worker.end()
            place.worker = None

    def _round(
        self,
        calls: dict[str, int],
        results: dict[str, Measurement],
        number: int,
        tell: Callable[[str], None] = lambda what: None,
    ) -> None:
        """Take a batch of each candidate; if one thread computes, all on the processor of the first one.

        Candidates take turns in being first, since memory can be nearer to one processor than to another. A
        candidate that cannot be timed any more is removed from `calls`.
        """
        processor = None
        for candidate in _rotated(list(calls), number):
            before = results[candidate]
            tell(f"timing {candidate}, round {len(before.rounds) + 1}")
            timed = self._time(candidate, calls[candidate], processor)
            if isinstance(timed, Measurement):
                results[candidate] = timed
                del calls[candidate]
            else:
                results[candidate] = replace(before, rounds=(*before.rounds, timed.round))
                processor = timed.processor if processor is None else processor

    def _time(self, candidate: str, calls: int, processor: int | None) -> _Timed | Measurement:
        """Time one batch of a candidate's calls; or a measurement that says why it cannot be timed."""
        answer = self._ask(candidate, {"do": "time", "calls": calls, "processor": processor})
        if isinstance(answer, Measurement) or answer["status"] != "timed":
            return _failure(candidate, answer)
        timed = Round(answer["forward"], answer["backward"], answer["busy"], answer["counts"])
        return _Timed(timed, answer["processor"])

    def _prepare(self, candidate: str, program: GraphProgram) -> tuple[Measurement, float | None]:
        """Compile and check a graph: the measurement so far, and the seconds of a call if it can be timed."""
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
        """The answer of a candidate's process; or a measurement that says why there is none."""
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


def _rotated(candidates: list[str], number: int) -> list[str]:
    """The candidates, beginning with another one for each number."""
    first = number % max(1, len(candidates))
    return candidates[first:] + candidates[:first]


def _discounted(measured: Measurement, rounds: int) -> Measurement:
    """The measurement with its first `rounds` marked as not valid."""
    first = tuple(each._replace(counts=False) for each in measured.rounds[:rounds])
    return replace(measured, rounds=first + measured.rounds[rounds:])


def _align(candidates: Iterable[str], results: dict[str, Measurement]) -> None:
    """Give all candidates the same number of rounds, as rounds of the same number are compared."""
    longest = max((len(results[each].rounds) for each in candidates), default=0)
    for candidate in candidates:
        results[candidate] = _padded(results[candidate], longest)


def _padded(measured: Measurement, rounds: int) -> Measurement:
    """The measurement with this number of rounds; those that it missed are not valid."""
    if not measured.rounds:
        return measured
    missed = (measured.rounds[-1]._replace(busy=None, counts=False),) * (rounds - len(measured.rounds))
    return replace(measured, rounds=measured.rounds + missed)


def _calls_of_a_batch(seconds: float) -> int:
    return max(1, round(_BATCH_SECONDS / max(seconds, 1e-9)))


def _failure(candidate: str, answer: dict[str, Any] | Measurement) -> Measurement:
    if isinstance(answer, Measurement):
        return answer
    return Measurement(candidate, _VERDICTS.get(answer["status"], FAILED), answer["reason"])

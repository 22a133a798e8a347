"""Trials of programs in processes of their own: several at once, each once only, and known when continued."""

import json
import os
import queue
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..backends.measuring.trial_server import MOST_LIMITS
from ..bench.autotune.workers import NoAnswer, Worker
from ..shared.errors import NotMeasured
from ..shared.quick_dataclass import dataclass
from .failure import OUTPUT, Failure, Kind, failure_of, failures_of, outputs_differ
from .result import Trial

MODULE = "trial_server"
_MOST_WORKERS = 4
_ANSWERS_WITHIN = 30.0  # seconds beyond the most that a trial may take
_DESCRIBED_WITHIN = 120.0
_LARGEST_STATE = 64 << 20  # bytes


class BudgetSpent(Exception):
    """The time for trials is over: what was found until then is the result."""


@dataclass(frozen=True)
class Candidate:
    """A program to try: `text` is to fail compiled, and `plain` to pass in plain Python.

    `plain` is the same text, or one that checks more. `size` says how large it is.
    """

    text: str
    plain: str
    size: str


@dataclass
class Trials:
    """Runs candidates, up to a deadline (`time.monotonic()`). A context manager, which ends its processes.

    `state` is a file of outcomes that are known, by digests of the texts; None to keep none. Of so many
    `attempts` one has to fail as it should, for failures that do not come each time.
    """

    python: str
    import_path: Sequence[str]
    limit: float
    deadline: float
    state: Path | None = None
    announce: Callable[[str], None] = lambda line: None
    attempts: int = 1
    longest: float = 0.0  # seconds of a run that ended by itself
    started: float = 0.0  # seconds until a process could try programs
    kept_runs: int = 0  # runs of what is found, each in a new process, for which time is kept
    kept_seconds: float = 0.0  # and for what else comes after the trials
    most_kept: float = 0.0  # seconds
    done: list[Trial] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    def __enter__(self) -> "Trials":
        self._folder = Path(tempfile.mkdtemp(prefix="dynamo-repro-"))
        self._known = {} if self.state is None else _read_state(self.state)
        self._from_before = frozenset(self._known)
        began = time.monotonic()
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._all: list[Worker] = []
        self.workers = max(1, min(_MOST_WORKERS, len(os.sched_getaffinity(0))))
        self._threads = ThreadPoolExecutor(self.workers)
        try:
            for started in [self._start() for _ in range(self.workers)]:
                self.about = started.hello()
                self._idle.put(started)
        except (NoAnswer, NotMeasured) as error:
            self._end()
            raise NotMeasured(f"{self.python} cannot try programs: {error}") from error
        self.started = time.monotonic() - began
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def _end(self) -> None:
        for worker in self._all:
            worker.end()
        self._threads.shutdown(cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> Worker:
        worker = Worker(self.python, str(self._folder), self.import_path, MODULE)
        self._all.append(worker)
        return worker

    def outcome(self, text: str, *, plain: bool = False, attempt: int = 0) -> dict[str, Any]:
        """How a program ended (`trial_server.py`); another `attempt` runs it again."""
        run = f"{self.about['torch']}\0{plain}\0{self.limit}\0{attempt}\0{text}"
        key = sha256(run.encode("utf-8", "surrogateescape")).hexdigest()
        if key in self._known:
            return {**self._known[key], "is_earlier": key in self._from_before}
        if time.monotonic() + self.kept > self.deadline:
            raise BudgetSpent
        worker = self._idle.get()
        request = {"do": "run", "text": text, "plain": plain, "limit": self.limit}
        try:
            found = worker.ask(request, MOST_LIMITS * self.limit + _ANSWERS_WITHIN)
        except NoAnswer as error:
            found = {
                "ending": "hang" if not error.crashed else "signal",
                "message": str(error),
                "seconds": 0.0,
            }
            worker.end()
            worker = self._start()
            worker.hello()
        finally:
            self._idle.put(worker)
        if found["ending"] != "hang":
            self.longest = max(self.longest, found["seconds"])
        self._known[key] = found
        self._store(key, found)
        return found

    @property
    def kept(self) -> float:
        """Seconds before the deadline at which trials end."""
        return min(self.most_kept, self.kept_seconds + self.kept_runs * (self.started + self.longest))

    def keep(self, runs: int, seconds: float) -> None:
        """Keep time for runs of what is found, and what else comes: at most half of what was left first."""
        self.kept_runs, self.kept_seconds = runs, seconds
        self.most_kept = max(self.most_kept, (self.deadline - time.monotonic()) / 2)

    def machine(self) -> str | None:
        """The machine in torch's words; None where it cannot tell."""
        worker = self._idle.get()
        try:
            return worker.ask({"do": "describe"}, _DESCRIBED_WITHIN).get("machine")
        except NoAnswer:
            return None
        finally:
            self._idle.put(worker)

    def outcomes(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """How these programs ended, several of which run at once; only the first ones if time is up."""
        ended: list[dict[str, Any]] = []
        with suppress(BudgetSpent):
            for each in self._threads.map(self.outcome, texts):
                ended.append(each)
        return ended

    def failures(self, candidate: Candidate) -> list[Failure]:
        """What a candidate fails with when it is compiled; nothing where plain Python fails."""
        ran, found = self._run(candidate, lambda failure: True)
        return found if len(ran) > 1 else []

    def fails_each_time(self, candidate: Candidate, failure: Failure) -> bool:
        """Whether a candidate fails so in further attempts as well."""
        plain = self.outcome(candidate.plain, plain=True)
        again = self._threads.map(lambda each: self.outcome(candidate.text, attempt=each), (1, 2))
        return all(any(map(failure.is_same, failures_of(each, plain))) for each in again)

    def is_steady(self, text: str) -> bool:
        """Whether plain Python prints the same when it is run again."""
        first, again = (str(self.outcome(text, plain=True, attempt=each).get("output")) for each in (0, 1))
        return not outputs_differ(first, again)

    def _run(
        self, candidate: Candidate, is_enough: Callable[[Failure], bool]
    ) -> tuple[list[dict[str, Any]], list[Failure]]:
        """How a candidate ended in plain Python and compiled, and what the last of these runs failed with."""
        ran = [self.outcome(candidate.plain, plain=True)]
        failure = failure_of(ran[0])
        if failure is not None:
            return ran, [failure]
        found: list[Failure] = []
        for attempt in range(self.attempts):
            ran.append(self.outcome(candidate.text, attempt=attempt))
            found = failures_of(ran[-1], ran[0])
            if any(map(is_enough, found)):
                break
        return ran, found

    def first_failing(
        self, candidates: Sequence[Candidate], kinds: Sequence[Kind]
    ) -> tuple[int, Failure] | None:
        """The index of the first candidate with a failure of one of these kinds, and that failure."""
        for begin in range(0, len(candidates), self.workers):
            batch = candidates[begin : begin + self.workers]
            for index, failures in enumerate(self._threads.map(self.failures, batch), begin):
                for failure in failures:
                    if failure.kind in kinds:
                        return index, failure
        return None

    def first(self, candidates: Sequence[Candidate | None], wanted: Failure) -> int | None:
        """The index of the first candidate with this failure; candidates that are None cannot be programs."""
        begin = 0
        while begin < len(candidates):
            batch = range(begin, min(begin + self.workers, len(candidates)))
            tried = [index for index in batch if candidates[index] is not None]
            results = list(self._threads.map(lambda index: self._try(candidates[index], wanted), tried))
            self.done += [trial(number) for number, trial in enumerate(results, len(self.done) + 1)]
            for index, trial in zip(tried, self.done[len(self.done) - len(tried) :], strict=True):
                if trial.fails:
                    self.announce(f"{trial.size} (trial {len(self.done)})")
                    return index
            begin = batch.stop
        return None

    def _try(self, candidate: Candidate | None, wanted: Failure) -> Callable[[int], Trial]:
        assert candidate is not None
        ran, found = self._run(candidate, wanted.is_same)
        prefix = "" if len(ran) > 1 else "plain Python fails: "
        fails = not prefix and any(map(wanted.is_same, found))
        first = next(iter(found), None)
        words = "passes" if first is None else f"{first.kind}: {first.type} {first.message}".strip()
        if fails and wanted.type == OUTPUT and not self.is_steady(candidate.plain):
            fails, words = False, "plain Python prints something else each time"
        ended = prefix + words
        seconds = sum(each["seconds"] for each in ran)
        is_earlier = all(each.get("is_earlier", False) for each in ran)
        return lambda number: Trial(number, candidate.size, fails, ended, seconds, is_earlier)

    def _store(self, key: str, found: dict[str, Any]) -> None:
        if self.state is None:
            return
        try:
            with self.state.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, found]) + "\n")
        except OSError:  # then it is tried again when continued
            self.state = None


def _read_state(file: Path) -> dict[str, dict[str, Any]]:
    """The outcomes in a state file, as far as it can be read."""
    known: dict[str, dict[str, Any]] = {}
    try:
        if file.stat().st_size > _LARGEST_STATE:
            return {}
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    for line in lines:
        try:
            key, found = json.loads(line)
            known[key] = {"seconds": 0.0, **found, "ending": found["ending"]}
        except (ValueError, TypeError, KeyError, RecursionError):  # the process was killed while it wrote
            continue
    return known

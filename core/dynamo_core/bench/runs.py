"""The runs of `dynamo bench`: their plan and order, the runs themselves, and how long they will take."""

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import dropwhile
from pathlib import Path
from statistics import median
from typing import Any

from ..analysis.recompiles import is_recompile_limit
from ..analysis.words import roughly
from ..launch.process import Ending, Unattended
from ..launch.program import default_python
from ..launch.run import Request, checked, record
from ..model import Process, Recording
from ..recording.read import read
from ..shared.backend_choice import parse_chain
from ..shared.errors import DynamoError, NotMeasured
from ..shared.quick_dataclass import dataclass
from ..shared.settings import VERIFY_REPORT, Settings, StepFrame
from ..shared.text import file_name, printable
from ..shared.timing import Load, LoadMeter
from .comparison import compare
from .graphs import GraphTimes, measure_graphs
from .measured import (
    CONTENTS,
    EAGER,
    LONGEST_OUTPUT,
    Agreement,
    Backend,
    Bench,
    Run,
    Step,
    agreement_of,
    find_step,
    machine_of,
    not_verified,
    read_output,
    read_run,
)


class RunTimes:
    """The durations of each backend's runs, in seconds. The first run is ignored once there is a second."""

    def __init__(self, backends: Iterable[str]) -> None:
        self._took: dict[str, list[float]] = {name: [] for name in backends}

    def add(self, backend: str, took: float) -> None:
        """Add a run, in the order in which they end."""
        self._took[backend].append(took)

    def rounds(self, backend: str) -> int:
        """How many runs of the backend are done."""
        return len(self._took[backend])

    def of(self, runs: Mapping[str, int]) -> float | None:
        """The expected time of this many further runs of each backend; None while one has no run yet."""
        if any(count and not self._took[name] for name, count in runs.items()):
            return None
        return sum(count * self._typical(name) for name, count in runs.items() if count)

    def _typical(self, backend: str) -> float:
        first, *others = self._took[backend]
        return median(others or [first])


def remaining_words(planned: float | None, at_most: float | None, most_rounds: int) -> str | None:
    """`about 40 s more, 2 min if it takes all 15 rounds`; None while nothing is known."""
    if planned is None:
        return None
    more = f"about {roughly(planned)} more"
    if at_most is None or at_most <= planned:
        return more
    return f"{more}, {roughly(at_most)} if it takes all {most_rounds} rounds"


# Joins the backends of a chain here, as commas separate the backends to compare.
CHAIN_MARK = "+"
_FIRST = "first"  # the folder of the first run
_LONGEST_END = 1 << 16  # bytes at the end of stderr that are searched for the error

# Gets what runs now, the number of finished runs and of all runs, and the remaining time if it is known.
Announce = Callable[[str, int, int, str | None], None]


@dataclass(frozen=True)
class Plan:
    """What to run. `requests` are `requests_for` the backends, eager first; `first` is for the first run.

    There are `rounds` rounds, and as many more, up to `most_rounds`, until they decide. Recordings go below
    `recordings`, caches of the compilers below `caches`. `step` is the function that the user says is a step.
    """

    first: Request
    requests: Mapping[str, Request]
    rounds: int
    most_rounds: int
    recordings: Path
    caches: Path
    verify: bool
    per_graph: bool = False
    step: str | None = None
    time_limit: float | None = None


@dataclass(frozen=True)
class _Finished:
    """A finished run and its output. The recording is None where it cannot be read.

    `log` is the file with its stderr.
    """

    problem: str | None
    recording: Recording | None
    stdout: str
    is_stdout_cut: bool
    load: Load
    log: str


def first_request(request: Request) -> Request:
    """The request for a run in which Dynamo captures what it can, and no backend compiles it."""
    return replace(request, settings=_with_backend(request.settings, "eager"))


def requests_for(request: Request, backends: Sequence[str]) -> dict[str, Request]:
    """The request for each backend. A bad name raises BackendProblem before anything runs."""
    found = {EAGER: request.settings._replace(capture="none", override=("disable=True",))}
    for name in backends:
        found.setdefault(name, _with_backend(request.settings, name.replace(CHAIN_MARK, ",")))
    return {name: checked(replace(request, settings=settings)) for name, settings in found.items()}


def bench(plan: Plan, announce: Announce) -> Bench:
    """Run the whole plan; NotMeasured where the program fails even in eager.

    KeyboardInterrupt ends it early, with the results so far.
    """
    runs = _Runs(plan, announce)
    result = Bench(
        plan.first.program.name,
        plan.rounds,
        [Backend(name, _mode(name)) for name in plan.requests],
        most_rounds=plan.most_rounds,
    )
    try:
        runs.look(result)
        frames = () if result.step is None else result.step.frames
        number = 0
        while number < result.rounds:
            number += 1
            for backend in _rotated(result.backends, number):
                backend.runs[number] = runs.measure(backend.name, number, frames)
                if backend.is_eager and backend.runs[number].problem is not None:
                    raise NotMeasured(
                        f"{result.program} fails without any compiling: {backend.runs[number].problem}"
                    )
            if number == result.rounds < plan.most_rounds and not _is_decided(result):
                result.rounds = min(result.rounds + plan.rounds, plan.most_rounds)
                runs.expect(result.rounds, undecided=number)
        if plan.verify:
            for backend in result.backends[1:]:
                backend.agreement = runs.verify(backend)
        if plan.per_graph:
            result.graphs = []
            result.graphs.extend(runs.graph_times())
    except KeyboardInterrupt:
        result.is_interrupted = True
    return result


class _Runs:
    def __init__(self, plan: Plan, announce: Announce) -> None:
        self._plan = plan
        self._announce = announce
        self._done = 0
        self._names = _folder_names(plan.requests)
        self._times = RunTimes(plan.requests)
        self._to_verify = [name for name in plan.requests if name != EAGER] if plan.verify else []
        self.expect(plan.rounds)

    def expect(self, rounds: int, undecided: int = 0) -> None:
        """Set the expected number of rounds, after `undecided` ones that did not decide."""
        count = len(self._plan.requests)
        self._rounds, self._undecided = rounds, undecided
        self._in_all = 1 + rounds * count + self._plan.verify * (count - 1) + self._plan.per_graph

    def look(self, result: Bench) -> None:
        """Find out from a first run what a step is, or why there is none, the machine and its threads.

        Dynamo captures this run, and no backend compiles it.
        """
        finished = self._run("a first run, for its steps", _FIRST, self._plan.first)
        processes = [] if finished.recording is None else finished.recording.processes
        result.machine = machine_of(processes)
        if finished.problem is not None or finished.recording is None:
            result.no_step = f"the first run, with Dynamo but no compiler, failed: {finished.problem}"
            return
        threads = {graph.threads for process in processes for graph in process.graphs}
        result.threads = tuple(sorted(each for each in threads if each is not None))
        result.step, result.no_step = self._step_of(processes)

    def _step_of(self, processes: Sequence[Process]) -> tuple[Step | None, str | None]:
        for process in processes:
            step = find_step(process, self._plan.step)
            if step is not None and step.is_of_dynamo:
                return None, "a step begins with a module of torch's own, and its caller was not recorded"
            if step is not None:
                return step, None
        below = "" if self._plan.step is None else f" below {self._plan.step}"
        frames = [frame for process in processes for frame in process.frames]
        is_at_limit = any(is_recompile_limit(frame.reason) for frame in frames)
        limit = "; torch's recompile limit was hit" if is_at_limit else ""
        return None, f"no graph{below} is called often enough with nothing compiled in between{limit}"

    def measure(self, name: str, number: int, frames: tuple[StepFrame, ...]) -> Run:
        """One run of the program with one backend."""
        more = f" ({self._undecided} did not decide)" if self._undecided else ""
        what = f"round {number} of {self._rounds}{more}, {name}"
        request = _with_settings(self._plan.requests[name], step_frames=frames)
        began = time.monotonic()
        finished = self._run(what, f"{self._names[name]}-{number}", request, self._names[name])
        self._times.add(name, time.monotonic() - began)
        if finished.recording is None:
            problem = finished.problem or "nothing was recorded"
            return Run(problem=problem, stdout=finished.stdout, load=finished.load, log=finished.log)
        run = read_run(
            finished.recording, finished.problem, finished.stdout, finished.is_stdout_cut, finished.load
        )
        return replace(run, log=finished.log)

    def verify(self, backend: Backend) -> Agreement:
        """The agreement of a backend, from an untimed run in which each graph runs beside eager."""
        agreement = self._agreement(backend)
        self._to_verify.remove(backend.name)
        return agreement

    def _agreement(self, backend: Backend) -> Agreement:
        if not backend.successes:
            return not_verified("it never ran to its end")
        folder = self._names[backend.name]
        request = _with_settings(self._plan.requests[backend.name], verify=VERIFY_REPORT)
        finished = self._run(f"verifying {backend.name}", f"{folder}-verified", request, folder)
        if finished.recording is None or finished.problem is not None:
            return not_verified(f"the verified run failed: {finished.problem}")
        return agreement_of(finished.recording)

    def graph_times(self) -> Iterator[GraphTimes]:
        """The times of each graph of the first run under each backend."""
        eager = self._plan.requests[EAGER]
        return measure_graphs(
            self._plan.recordings / _FIRST,
            {
                name: EAGER if name == EAGER else request.settings.backend
                for name, request in self._plan.requests.items()
            },
            python=eager.python or default_python(),
            import_path=[*eager.program.import_path(), str(Path.cwd())],
            time_limit=self._plan.time_limit,
            tell=lambda what: self._announce(what, self._done, self._in_all, None),
        )

    def _remaining(self) -> str | None:
        """The remaining time in words, without the graphs of --per-graph; None while it is unknown."""
        most = self._plan.most_rounds
        words = remaining_words(self._seconds_to(self._rounds), self._seconds_to(most), most)
        return f"{words}, and then the graphs" if words and self._plan.per_graph else words

    def _seconds_to(self, rounds: int) -> float | None:
        left = {name: rounds - self._times.rounds(name) for name in self._plan.requests}
        return self._times.of({name: count + (name in self._to_verify) for name, count in left.items()})

    def _run(self, what: str, folder: str, request: Request, cache: str = _FIRST) -> _Finished:
        self._announce(what, self._done, self._in_all, self._remaining())
        plan = self._plan
        caches = plan.caches / cache
        unattended = Unattended(
            stdout=plan.recordings / f"{folder}.stdout",
            stderr=plan.recordings / f"{folder}.stderr",
            environment={"TORCHINDUCTOR_CACHE_DIR": str(caches), "TRITON_CACHE_DIR": str(caches / "triton")},
            time_limit=plan.time_limit,
            most_output=LONGEST_OUTPUT,
        )
        request = replace(request, output=plan.recordings / folder)
        meter = LoadMeter()
        outcome = record(request, announce=lambda note: None, unattended=unattended)
        load = meter.read()
        self._done += 1
        recording = _read_recording(outcome.recording)
        return _Finished(
            _problem(outcome.ending, unattended) or _why_not_recorded(recording),
            recording,
            read_output(unattended.stdout),
            unattended.stdout.stat().st_size > LONGEST_OUTPUT,
            load,
            str(unattended.stderr),
        )


def _is_decided(result: Bench) -> bool:
    """Whether more rounds would add nothing for any backend."""
    return all(figures.is_decided is not False for figures in compare(result))


def _with_backend(settings: Settings, backend: str) -> Settings:
    """Settings with a backend for what we capture and for the program's own calls of torch.compile."""
    dynamic = "" if settings.dynamic is None else f",dynamic={settings.dynamic}"
    return settings._replace(backend=backend, override=(f"backend={backend}{dynamic}",))


def _with_settings(request: Request, **changes: Any) -> Request:
    return replace(request, settings=request.settings._replace(**changes))


def _mode(name: str) -> str | None:
    choices = parse_chain(name.replace(CHAIN_MARK, ","))
    return choices[0].mode if len(choices) == 1 else None


def _rotated(backends: list[Backend], number: int) -> Iterator[Backend]:
    """The backends in a round's order: each round begins with the next one, as load changes over time."""
    first = (number - 1) % len(backends)
    yield from (*backends[first:], *backends[:first])


def _problem(ending: Ending, unattended: Unattended) -> str | None:
    if unattended.timed_out:
        return f"stopped at the time limit of {unattended.time_limit:g} s"
    if ending.signal is not None:
        known = [each.name for each in signal.Signals if each == ending.signal]
        return f"killed by {known[0] if known else f'signal {ending.signal}'}"
    if ending.exit_code == 0:
        return None
    error = error_line(_read_end(unattended.stderr))
    return f"exit code {ending.exit_code}" + (f", {printable(error)}" if error else "")


_TRACEBACK = "Traceback (most recent call last):"


def error_line(stderr: str) -> str:
    """The error of the last traceback, which torch's advice may follow; without one the last line."""
    lines = [line.rstrip() for line in stderr.splitlines() if line.strip()]
    if _TRACEBACK not in lines:
        return lines[-1].strip() if lines else ""
    behind = lines[len(lines) - lines[::-1].index(_TRACEBACK) :]
    error = list(dropwhile(lambda line: line[0].isspace(), behind))
    if not error:
        return lines[-1].strip()
    return " ".join(error[:2]) if error[0].endswith(":") else error[0]


def _why_not_recorded(recording: Recording | None) -> str | None:
    """Why a program that succeeded is no run with the backend: nothing was recorded."""
    if recording is None or not recording.processes:
        failures = [] if recording is None else recording.engine_failures
        return f"nothing was recorded: {failures[0] if failures else 'no process imported torch'}"
    return None


def _read_end(output: Path) -> str:
    """The last part of a program's output."""
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - _LONGEST_END))
        return file.read().decode("utf-8", "replace")


def _read_recording(path: Path) -> Recording | None:
    with suppress(DynamoError):
        return read(path, CONTENTS)
    return None


def _folder_names(backends: Iterable[str]) -> dict[str, str]:
    """A unique folder name for each backend."""
    names: dict[str, str] = {}
    for backend in backends:
        name = file_name(backend) or "backend"
        names[backend] = name if name not in names.values() else f"{name}-{len(names)}"
    return names

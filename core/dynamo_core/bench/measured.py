"""What `dynamo bench` has of each run, read from its recording."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from ..analysis.summary import summarize
from ..analysis.time.wall import (
    BEFORE_TORCH,
    COMPILING,
    EXIT,
    IMPORTING_COMPILER,
    IMPORTING_TORCH,
    THIS_TOOL,
    Interval,
    compile_intervals,
    is_main,
    wall_time,
)
from ..model import Process, Recording
from ..recording.calls import CALL_SAMPLES
from ..shared.quick_dataclass import dataclass
from ..timing.load import Load
from .agreement import Agreement
from .graph_times import GraphTimes
from .machine import Machine
from .step_frame import Step

CONTENTS = frozenset({"chromium_event", CALL_SAMPLES})
EAGER = "eager"
_START_AND_COMPILE = (BEFORE_TORCH, IMPORTING_TORCH, THIS_TOOL, IMPORTING_COMPILER, COMPILING, EXIT)


@dataclass(frozen=True)
class Run:
    """One run of the program. `problem` says why it was no success; the rest is None where not recorded.

    `marks` are some of the moments at which a step began, by the step's number (from 1); `steps` is how many
    began in all, and noting one took `mark_seconds`, which are no part of the program. `compiling` is when
    something was compiled. `working_seconds` is the whole run without imports, compiling and leaving Python.
    `peaks` are bytes: `resident`, and by CUDA device. Of `stdout`, the end may be cut (LONGEST_OUTPUT); `log`
    is the file of its stderr. `load` is what else went on in the machine.
    """

    problem: str | None = None
    marks: Mapping[int, int] = field(default_factory=dict)
    steps: int = 0
    mark_seconds: float = 0.0
    compiling: Sequence[Interval] = ()
    working_seconds: float | None = None
    compile_seconds: float | None = None
    peaks: Mapping[str, int] = field(default_factory=dict)
    graphs: int | None = None
    graph_breaks: int | None = None
    recompiles: int | None = None
    recording: str | None = None
    stdout: str = ""
    is_stdout_cut: bool = False
    load: Load = field(default_factory=Load)
    log: str | None = None


@dataclass
class Backend:
    """A backend as it was named, its mode if it is Inductor's, and its runs, by round (from 1)."""

    name: str
    mode: str | None = None
    runs: dict[int, Run] = field(default_factory=dict)
    agreement: Agreement = field(default_factory=lambda: Agreement("not verified"))

    @property
    def is_eager(self) -> bool:
        """Whether it is the program without Dynamo."""
        return self.name == EAGER

    @property
    def successes(self) -> dict[int, Run]:
        """The runs that count."""
        return {number: run for number, run in self.runs.items() if run.problem is None}

    @property
    def problem(self) -> str | None:
        """Why a run failed, the first that did."""
        return next((run.problem for run in self.runs.values() if run.problem is not None), None)


@dataclass
class Bench:
    """All of it; `backends` begin with eager. `rounds` is how many were to be run in the end.

    `most_rounds` is how many there would be at most. `threads` is how many torch had, where graphs say so;
    `machine` is where it ran.

    `step` is None where nothing repeats, and `no_step` says why. `recordings` is the folder that holds the
    runs' recordings, None where they are not kept. `graphs` is None where --per-graph was not given.
    """

    program: str
    rounds: int
    backends: list[Backend]
    step: Step | None = None
    no_step: str | None = None
    recordings: str | None = None
    is_interrupted: bool = False
    graphs: list[GraphTimes] | None = None
    most_rounds: int | None = None
    threads: tuple[int, ...] = ()
    machine: Machine | None = None

    @property
    def eager(self) -> Backend:
        """What the others are compared with."""
        return self.backends[0]


def read_run(recording: Recording, problem: str | None, stdout: str, is_stdout_cut: bool, load: Load) -> Run:
    """A run, from its recording."""
    summary = summarize(recording)
    process = stepping_process(recording)
    marks = process.step_marks if process is not None else None
    return Run(
        problem=problem,
        marks={} if marks is None else {call.number: call.began_ns for call in marks.samples},
        steps=0 if marks is None else marks.calls,
        mark_seconds=(process.step_mark_seconds if process is not None else None) or 0.0,
        compiling=() if process is None else compile_intervals(process),
        working_seconds=_working_seconds(recording),
        compile_seconds=summary.compile_time_s,
        peaks=_peaks(recording),
        graphs=summary.graphs,
        graph_breaks=summary.graph_breaks,
        recompiles=summary.recompiles,
        recording=str(recording.path),
        stdout=stdout,
        is_stdout_cut=is_stdout_cut,
        load=load,
    )


def stepping_process(recording: Recording) -> Process | None:
    """The process whose steps are taken: of several, the one with the most, and of those the first rank."""
    return min(
        recording.processes,
        key=lambda process: (
            -(process.step_marks.calls if process.step_marks is not None else 0),
            process.rank if process.rank is not None else -1,
        ),
        default=None,
    )


def _working_seconds(recording: Recording) -> float | None:
    for process in recording.processes:
        wall = wall_time(process, recording) if is_main(process, recording) else None
        if wall is not None:
            parts = [part.seconds for part in wall.parts if part.name in _START_AND_COMPILE]
            return wall.seconds - sum(seconds for seconds in parts if seconds is not None)
    return None


def _peaks(recording: Recording) -> dict[str, int]:
    """The peaks of the largest process, each on its own."""
    peaks: dict[str, int] = {}
    for process in recording.processes:
        peak = process.end.peak_memory if process.end else None
        for where, size in (peak or {}).items():
            if size > 0:
                peaks[where] = max(size, peaks.get(where, 0))
    return peaks

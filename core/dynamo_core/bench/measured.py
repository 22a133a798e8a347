"""The data of `dynamo bench`: machine, step, runs, agreement with eager, and comparison of outputs."""

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal

from ..analysis.graphs.cuda_graphs import skipped_words
from ..analysis.memory import peaks
from ..analysis.source_lines import UserCallSites
from ..analysis.summary import summarize
from ..analysis.time.steps import find_steps
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
from ..analysis.verdict import untaken_words
from ..analysis.verification import (
    not_compared_lines,
    program_sentence,
    verification,
    verified_sentence,
    wrong_call_lines,
    wrong_lines,
)
from ..model import CompileId, Place, Process, Recording, resumed_function
from ..recording.calls import CALL_SAMPLES
from ..shared.quick_dataclass import dataclass
from ..shared.settings import StepFrame
from ..shared.timing import Load
from ..shared.winners import cpu_model
from .graphs import GraphTimes


@dataclass(frozen=True)
class Machine:
    """The machine, and the program's Python and torch on it; None where they were not recorded.

    `devices` are those that the program used, in torch's words: `cpu: 8 cores, 4 threads`,
    `cuda:0: NVIDIA H100`.
    """

    host: str
    cpu: str
    devices: tuple[str, ...] = ()
    python: str | None = None
    torch: str | None = None

    @property
    def hardware(self) -> str:
        """All that two machines must share for a program's speed-ups there to be compared."""
        return ", ".join([self.cpu, *(device.removeprefix("cpu: ") for device in self.devices)])

    @property
    def gpus(self) -> tuple[str, ...]:
        """The names of the devices that are no CPU."""
        return tuple(each.partition(": ")[2] for each in self.devices if not each.startswith("cpu: "))


def machine_of(processes: Sequence[Process]) -> Machine:
    """This machine, with the devices, Python and torch that a program's processes recorded here."""
    python = next((process.info.python for process in processes if process.info.python), None)
    torch = next((process.torch_version for process in processes if process.torch_version), None)
    devices = max((tuple(process.runtime.state.devices or ()) for process in processes), key=len, default=())
    return Machine(platform.node(), cpu_model(), devices, python, torch)


Verdict = Literal["agrees", "disagrees", "not verified"]


@dataclass(frozen=True)
class Agreement:
    """The verdict, and why: the call, or graph, output and node, that disagrees, or why nothing was verified.

    A backend agrees if no call and no graph disagrees and at least one of them could be compared; `detail`
    says how many.
    """

    verdict: Verdict
    detail: str | None = None


def not_verified(why: str) -> Agreement:
    """The agreement where a backend was not verified."""
    return Agreement("not verified", why)


def agreement_of(recording: Recording) -> Agreement:
    """The agreement that the run with --verify found."""
    found = verification(recording)
    if found is None or not found.graphs:
        return not_verified("no graph was compiled")
    if found.has_wrong:
        lines = [*wrong_call_lines(found), *wrong_lines(found, recording)]
        return Agreement("disagrees", "; ".join(lines).removeprefix("disagrees: "))
    detail = "; ".join(
        [program_sentence(found), verified_sentence(found), *not_compared_lines(found, recording)]
    )
    return Agreement("agrees", detail) if found.agreeing or found.agreeing_calls else not_verified(detail)


_OF_DYNAMO = "/torch/_dynamo/"  # has the function by which torch's own modules are compiled


@dataclass(frozen=True)
class Step:
    """The function whose call begins a step, and the frames that represent it, compiled or not.

    If it is part of torch or another library, `called_at` is the program's line that calls it.
    """

    name: str
    place: Place
    frames: tuple[StepFrame, ...]
    called_at: Place | None = None

    @property
    def is_of_dynamo(self) -> bool:
        """Whether it is only known as a frame of Dynamo's own, which an eager run does not have."""
        return any(_OF_DYNAMO in file for file, _, _ in self.frames)


def find_step(process: Process, wanted: str | None = None) -> Step | None:
    """The step of a process, as `find_steps` finds it; None where nothing repeats."""
    steps = find_steps(process, wanted)
    if steps is None or steps.graph.frame_name is None or steps.graph.frame_place is None:
        return None
    graph = steps.graph
    name, place = steps.graph.frame_name, steps.graph.frame_place
    own = _frame_of(process, name, place)
    if resumed_function(name) is None:
        call = UserCallSites(process).of(graph.compile_id, place)
        if call is not None and graph.method is not None and _OF_DYNAMO in place.file:
            call_site = (call.place.file, call.place.line, graph.method)
            return Step(graph.method, place, (call_site,), call.place)
        return Step(name, place, (own,), None if call is None else call.place)
    origin = _origin(process.entire, name)
    if origin is None:
        return None
    name, place = origin
    frame = _frame_of(process, name, place)
    # A function that breaks before its first op has no graph: then its resume function represents it too.
    others = [other for other in process.entire.graphs if other is not graph]
    has_graph = any((other.frame_name, other.frame_place) == (name, place) for other in others)
    return Step(name, place, (frame,) if has_graph else (frame, own))


def _frame_of(process: Process, name: str, place: Place) -> StepFrame:
    """The frame by the first line of its code, which is that of the first decorator."""
    first = process.entire.first_lines.get(place, place)
    return first.file, first.line, name


def _origin(process: Process, name: str) -> tuple[str, Place] | None:
    """The program's function that a resume function continues; None where that is not recorded."""
    makers = {made.code_name: made.made_by for made in process.resume_functions}
    compiled = {compile_.compile_id: compile_ for compile_ in process.compiles if compile_.is_forward}
    seen: set[CompileId | None] = set()
    while resumed_function(name) is not None:
        made_by = makers.get(name)
        compile_ = compiled.get(made_by)
        if made_by in seen or compile_ is None or compile_.name is None or compile_.place is None:
            return None
        seen.add(made_by)
        name, place = compile_.name, compile_.place
    return name, place


CONTENTS = frozenset({"chromium_event", CALL_SAMPLES})
EAGER = "eager"
_START_AND_COMPILE = (BEFORE_TORCH, IMPORTING_TORCH, THIS_TOOL, IMPORTING_COMPILER, COMPILING, EXIT)


@dataclass(frozen=True)
class Run:
    """One run of the program. `problem` says why it failed; other fields are None where not recorded.

    `marks` are the times at which some of the steps began, by the step's number (from 1); `steps` is how many
    began in all. Recording a mark takes `mark_seconds`, which are not the program's. `compiling` are the
    intervals in which something was compiled. `working_seconds` is the whole run without imports, compiling
    and exit. `untaken` says which graphs no backend took, `without_cuda_graphs` of which torch skipped those.
    `peaks` are bytes: `resident`, and by CUDA device.
    `stdout` may be cut at its end (LONGEST_OUTPUT); `log` is the file with its stderr. `load` is the other
    load on the machine.
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
    untaken: str | None = None
    without_cuda_graphs: str | None = None
    recording: str | None = None
    stdout: str = ""
    is_stdout_cut: bool = False
    load: Load = field(default_factory=Load)
    log: str | None = None


@dataclass
class Backend:
    """A backend as the user named it, its mode if it has one, and its runs by round (from 1)."""

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
        """The runs that succeeded, by round."""
        return {number: run for number, run in self.runs.items() if run.problem is None}

    @property
    def problem(self) -> str | None:
        """Why the first run that failed did so; None where none failed."""
        return next((run.problem for run in self.runs.values() if run.problem is not None), None)


@dataclass
class Bench:
    """The result of a bench; `backends` begin with eager. `rounds` is how many were planned in the end.

    `most_rounds` is the limit of rounds. `threads` are the numbers of threads that torch used, as far as
    graphs record it; `machine` is where it ran. `step` is None where nothing repeats, and `no_step` says why.
    `recordings` is the folder of the runs' recordings, None where they are deleted. `graphs` is None without
    --per-graph.
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
        """Eager, with which the other backends are compared."""
        return self.backends[0]


def read_run(recording: Recording, problem: str | None, stdout: str, is_stdout_cut: bool, load: Load) -> Run:
    """The run that a recording is of."""
    summary = summarize(recording)
    process = stepping_process(recording)
    marks = process.runtime.step_marks if process is not None else None
    return Run(
        problem=problem,
        marks={} if marks is None else {call.number: call.began_ns for call in marks.samples},
        steps=0 if marks is None else marks.calls,
        mark_seconds=(process.runtime.step_mark_seconds if process is not None else None) or 0.0,
        compiling=() if process is None else compile_intervals(process),
        working_seconds=_working_seconds(recording),
        compile_seconds=summary.compile_time_s,
        peaks=peaks(recording.processes),
        graphs=summary.graphs,
        graph_breaks=summary.graph_breaks,
        recompiles=summary.recompiles,
        untaken=untaken_words(recording),
        without_cuda_graphs=skipped_words(recording),
        recording=str(recording.path),
        stdout=stdout,
        is_stdout_cut=is_stdout_cut,
        load=load,
    )


def stepping_process(recording: Recording) -> Process | None:
    """The process whose steps are measured: the one with the most steps, and of equal ones the first rank."""
    return min(
        recording.processes,
        key=lambda process: (
            -(process.runtime.step_marks.calls if process.runtime.step_marks is not None else 0),
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


_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.?\d+)(?:[eE][-+]?\d+)?")

# What differs from run to run: dates, times of day, durations (`1.2 s`, `took 3.4`) and rates (`31.5it/s`).
_PLAIN_NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_UNIT = r"(?: ?(?:[a-z]+/s(?:ec)?|s/[a-z]+|[munµ]?s|msec|sec|seconds?|minutes?|hours?|fps)|min|h)\b"
_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ](?=\d\d:))?"
    r"|(?<![\w.:])\d{1,3}(?::\d\d){1,2}(?:[.,]\d+)?(?![\d:])"
    rf"|(?<![\w.]){_PLAIN_NUMBER}{_UNIT}"
    rf"|\b(?:(?:run)?time|took|elapsed|duration|latency|throughput|fps|per second)(?: taken)?"
    rf"[ :=]{{1,3}}{_PLAIN_NUMBER}",
    re.IGNORECASE,
)

# Bytes of a run's output that are compared.
LONGEST_OUTPUT = 4 << 20

Likeness = Literal["same", "numbers", "different"]


def read_output(file: Path) -> str:
    """The first part of a program's output, which is compared."""
    with file.open("rb") as opened:
        return opened.read(LONGEST_OUTPUT).decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class OutputComparison:
    """The `same` text; the same but for its `numbers`; or `different`. Durations, dates and times of day are
    not compared.
    """

    likeness: Likeness
    relative_difference: Annotated[float | None, "the largest of any number"] = None
    line: Annotated[int | None, "the first that differs, from 1"] = None
    is_partial: Annotated[bool, "whether only the first 4 MiB were compared"] = False


def compare_outputs(expected: str, actual: str) -> OutputComparison:
    """Compare what two runs wrote to stdout, without the times in it."""
    expected, actual = (_TIME.sub("<time>", text) for text in (expected, actual))
    if expected == actual:
        return OutputComparison("same")
    line = _first_difference(expected, actual)
    if _NUMBER.sub("#", expected) != _NUMBER.sub("#", actual):
        return OutputComparison("different", None, line)
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(actual), strict=True)
    return OutputComparison("numbers", max(_relative(float(a), float(b)) for a, b in pairs), line)


def _first_difference(expected: str, actual: str) -> int:
    lines = zip(expected.splitlines(), actual.splitlines(), strict=False)
    equal = [a == b for a, b in lines]
    return equal.index(False) + 1 if False in equal else len(equal) + 1


def _relative(a: float, b: float) -> float:
    if a == b:
        return 0.0
    return abs(a - b) / max(abs(a), abs(b)) if isfinite(a) and isfinite(b) else 1.0

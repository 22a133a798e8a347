"""`dynamo profile` as JSON: one declaration for the document and its schema."""

from typing import Annotated, ClassVar

from dynamo_core.analysis.memory import peaks
from dynamo_core.analysis.time import wall
from dynamo_core.analysis.time.steps import find_steps, first_call, steady_mean
from dynamo_core.case import Case
from dynamo_core.findings import Finding
from dynamo_core.findings.recompiles import ranked_breaks
from dynamo_core.model import CallTimes, CompileId, Place, Process
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Count, Seconds
from dynamo_core.shared.quick_dataclass import dataclass

from .compile_document import CompileTime, compile_time_of
from .window import NoWindow, Window, window_of


@dataclass(frozen=True)
class PartOfWallTime:
    """A share of the wall time, or of another part."""

    in_common: ClassVar[str] = "part_of_wall_time"

    name: str
    seconds: Seconds | None
    share: float | None
    basis: Annotated[wall.Basis, "how it is known"]
    note: str | None
    parts: Annotated["list[PartOfWallTime]", "what lies within it; need not be all of it"]


@dataclass(frozen=True)
class WallTime:
    """The life of a process, and what it was spent on."""

    began_ns: Annotated[int, At("begin_ns")]
    ended_ns: Annotated[int, At("end_ns"), "or the last moment that is known"]
    saw_end: Annotated[bool, "false where the process was cut off without a word"]
    is_main: Annotated[bool, "the process that dynamo run started"]
    seconds: Annotated[float, "all of it; the parts add up to it"]
    parts: list[PartOfWallTime]


@dataclass(frozen=True)
class WarmUp:
    """How many steps it took until the run was steady."""

    least: int
    most: int


@dataclass(frozen=True)
class SteadyState:
    """What repeats after the last compile."""

    graph: Annotated[int, At("graph.number"), "the number of the graph with whose call a step begins"]
    steps: Annotated[int, At("steady"), "how many the mean is over"]
    steady_since_ns: int
    warm_up_steps: Annotated[
        WarmUp,
        "how many began before the last compile had ended, and the first call of the graph; two numbers "
        "where not every call was noted",
    ]
    mean_seconds: Annotated[float, At("mean")]
    median_seconds: Annotated[float, At("median"), "of blocks"]
    fastest_seconds: Annotated[float, "block"]
    slowest_seconds: Annotated[float, "block"]
    block_size: Annotated[int, "steps whose mean makes one figure of the spread"]
    first_seconds: Annotated[
        tuple[float, ...], At("first"), "of the first steps, one by one, compiling included"
    ]


@dataclass(frozen=True)
class CallsOfDuration:
    """How many calls took how long."""

    from_ns: int
    to_ns: Annotated[int, "exclusive"]
    calls: int


@dataclass(frozen=True)
class Calls:
    """The calls of a compiled graph, or of its backward."""

    calls: int
    untimed_calls: Annotated[
        int,
        At("untimed"),
        "of these, how many were only counted, since the calls are short: the time is extrapolated from the "
        "others",
    ]
    seconds: Annotated[float, "of the host, in all"]
    first_seconds: Annotated[Seconds | None, "of the first call"]
    mean_of_the_rest_seconds: Seconds | None
    p50_seconds: Annotated[Seconds | None, "to within 6 %"]
    p99_seconds: Annotated[Seconds | None, "to within 6 %"]
    device_seconds_each: Annotated[
        Seconds | None,
        At("device_seconds"),
        "on the GPU's stream, on average over a sample; null where no GPU was in use",
    ]
    device_samples: int
    histogram: list[CallsOfDuration]


@dataclass(frozen=True)
class GraphRun:
    """What running a graph took."""

    number: int
    compile_id: CompileId | None
    frame: Annotated[str | None, At("frame_name")]
    place: Annotated[Place | None, At("frame_place")]
    ops: Count | None
    forward: Annotated[Calls | None, "null where calls were not counted"]
    backward: Annotated[Calls | None, "null where calls were not counted"]
    guard_seconds_each: Annotated[
        Seconds | None,
        At("times.guard_seconds"),
        "one evaluation of the guards of its frame, on average over a sample",
    ]


@dataclass(frozen=True)
class InheritedCalls:
    """The calls of graphs that the parent of a forked process compiled."""

    calls: Annotated[int, At("inherited_calls")]
    seconds: Annotated[float, At("inherited_seconds"), "of the host, in all"]


@dataclass(frozen=True)
class ProcessProfile:
    """Where the time of a process went."""

    process: Process
    wall_time: Annotated[WallTime | None, "null where the start was not recorded: a plain torch trace"]
    steady_state: Annotated[SteadyState | None, "null where nothing repeats after the last compile"]
    graphs: list[GraphRun]
    inherited: Annotated[
        InheritedCalls | None,
        "in a forked process, the calls of graphs that its parent compiled, backward included; null where "
        "calls were not counted",
    ]
    compile_time: CompileTime
    peak_memory: Annotated[
        dict[str, Count] | None, "in bytes: resident, and allocated on each CUDA device in use"
    ]
    window: Annotated[
        Window | NoWindow | None,
        "a window of steady steps under torch.profiler; null where the run was not asked for one",
    ]


@dataclass(frozen=True)
class BreakTaken:
    """What a graph break costs."""

    place: Annotated[Place | None, At("distinct.first.place")]
    kind: Annotated[str, At("distinct.first.kind")]
    crossed: Annotated[Count | None, At("distinct.crossed")]
    seconds_each: Annotated[
        Seconds | None, "from the graph before the break to the one after it, on average over a sample"
    ]
    seconds: Annotated[Seconds | None, "times the crossings"]
    timed_crossings: Annotated[int, At("timed"), "how many the sample has"]


@dataclass(frozen=True)
class Profile:
    """All seconds are of the wall clock, unless said otherwise; moments (…_ns) are nanoseconds since the
    epoch.
    """

    findings: Annotated[list[Finding], "what to do first, the worst first"]
    processes: list[ProcessProfile]
    breaks: Annotated[list[BreakTaken], "in the order of the findings"]


def profile_of(case: Case, step: str | None) -> Profile:
    """Where the time of each process went; `step` as `find_steps` takes it."""
    return Profile(
        findings=case.findings,
        processes=[_process(process, case, step) for process in case.processes],
        breaks=[from_fields(BreakTaken, cost) for cost in ranked_breaks(case.figures)],
    )


def _process(process: Process, case: Case, step: str | None) -> ProcessProfile:
    return ProcessProfile(
        process=process,
        wall_time=_wall_time(process, case),
        steady_state=_steady_state(process, step),
        graphs=graphs_run(process),
        inherited=inherited_calls(process),
        compile_time=compile_time_of(process, case),
        peak_memory=peaks([process]) or None,
        window=window_of(process),
    )


def _wall_time(process: Process, case: Case) -> WallTime | None:
    whole = case.wall(process)
    if whole is None:
        return None
    parts = [_part(part, whole) for part in whole.parts]
    return from_fields(WallTime, whole, is_main=wall.is_main(process, case.recording), parts=parts)


def _part(part: wall.Part, whole: wall.WallTime) -> PartOfWallTime:
    return from_fields(
        PartOfWallTime,
        part,
        share=None if part.seconds is None else part.seconds / whole.seconds,
        note=part.note or None,
        parts=[_part(inner, whole) for inner in part.parts],
    )


def _steady_state(process: Process, step: str | None) -> SteadyState | None:
    steps = find_steps(process, step)
    if steps is None:
        return None
    fastest, slowest = steps.spread
    return from_fields(
        SteadyState,
        steps,
        warm_up_steps=WarmUp(*steps.warm_up),
        fastest_seconds=fastest,
        slowest_seconds=slowest,
    )


def graphs_run(process: Process) -> list[GraphRun]:
    """The calls of every graph of a process."""
    return [
        from_fields(GraphRun, graph, forward=_calls(graph.times), backward=_calls(graph.backward))
        for graph in process.compiled_graphs
    ]


def _calls(times: CallTimes | None) -> Calls | None:
    if times is None:
        return None
    return from_fields(
        Calls,
        times,
        first_seconds=first_call(times),
        mean_of_the_rest_seconds=steady_mean(times),
        p50_seconds=times.percentile(0.5),
        p99_seconds=times.percentile(0.99),
        histogram=[
            CallsOfDuration(low, high, count) for (low, high), count in sorted(times.histogram.items())
        ],
    )


def inherited_calls(process: Process) -> InheritedCalls | None:
    """The calls of graphs that the parent of a process compiled; None where calls were not counted."""
    if process.runtime.overlap_seconds is None:
        return None
    return from_fields(InheritedCalls, process)

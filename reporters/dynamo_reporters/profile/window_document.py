"""The window of steady steps under torch.profiler, as the document of `dynamo profile` has it."""

from typing import Annotated, Literal

from dynamo_core.analysis.time.coverage import coverage
from dynamo_core.model import GraphPart, Place, Process, ProfileWindow, WindowKernel, WindowPart
from dynamo_core.shared.declared import Count, Seconds
from dynamo_core.shared.quick_dataclass import dataclass

from .window import bandwidth, costliest_eager, costliest_kernels


@dataclass(frozen=True)
class WhichGraph:
    """A graph, or its backward."""

    number: Annotated[int | None, "null where it is not known which graph's it is"]
    is_backward: bool


@dataclass(frozen=True)
class Coverage:
    """Shares, from 0 to 1, that ran inside compiled graphs. Null where there was nothing to share."""

    time: float | None
    operators: float | None
    kernel_time: float | None


@dataclass(frozen=True)
class GraphInWindow:
    """What a graph, or its backward, did."""

    graph: WhichGraph
    calls: int
    seconds: float
    operator_calls: int
    operator_seconds: float
    kernels: Count | None
    kernel_seconds: Seconds | None
    cuda_graph_launches: Count | None
    extra_bytes: Annotated[
        dict[str, Count] | None, "by device, the most that a call held beyond what was allocated before it"
    ]


@dataclass(frozen=True)
class OperatorOutside:
    """An operator outside of compiled graphs."""

    name: str
    place: Place | None
    calls: int
    seconds: float
    kernel_seconds: Seconds | None


@dataclass(frozen=True)
class OperatorInWindow:
    """An operator in one graph, or outside of all."""

    name: str
    graph: Annotated[WhichGraph | None, "which graph, or its backward; null outside of graphs"]
    calls: int
    self_seconds: float
    total_seconds: float


@dataclass(frozen=True)
class KernelInWindow:
    """A kernel, or a copy, on a device."""

    name: str
    graph: Annotated[WhichGraph | None, "which graph, or its backward; null outside of graphs"]
    device: str
    calls: int
    seconds: float
    bytes: Count | None
    bytes_per_second: float | None
    nodes: list[str] | None
    places: list[Place] | None


@dataclass(frozen=True)
class NoWindow:
    """A window that was asked for and could not be had."""

    problem: Annotated[str, "why there was no window"]


@dataclass(frozen=True)
class Window:
    """A window of steady steps under torch.profiler."""

    problem: Literal[None]
    anchor_graph: Annotated[int, "the graph with whose call a step begins"]
    steps: int
    seconds: float
    compiles: Annotated[int, "that fell into it"]
    coverage: Coverage
    graphs: list[GraphInWindow]
    eager_operators: Annotated[list[OperatorOutside], "outside of compiled graphs, the costliest first"]
    operators: list[OperatorInWindow]
    kernels: Annotated[list[KernelInWindow] | None, "null where no device was in use"]
    cuda_graph_counters: Annotated[dict[str, int] | None, "what Inductor counted in the run"]
    lines_problem: Annotated[str | None, "why the lines of operators were not recorded"]
    damaged_events: int


def window_of(process: Process) -> Window | NoWindow | None:
    """The window of a process; None where the run was not asked for one."""
    window = process.window
    if window is None:
        return None if process.window_problem is None else NoWindow(process.window_problem)
    return Window(
        problem=None,
        anchor_graph=window.anchor,
        steps=window.steps,
        seconds=window.seconds,
        compiles=window.compiles,
        coverage=Coverage(**coverage(window)),
        graphs=[_part(part, window) for part in window.parts],
        eager_operators=[
            OperatorOutside(
                name=operator.name,
                place=operator.place,
                calls=operator.calls,
                seconds=operator.seconds,
                kernel_seconds=None if window.kernels is None else operator.kernel_seconds,
            )
            for operator in costliest_eager(window)
        ],
        operators=[
            OperatorInWindow(
                name=operator.name,
                graph=_graph(operator.part),
                calls=operator.calls,
                self_seconds=operator.seconds,
                total_seconds=operator.total_seconds,
            )
            for operator in sorted(window.operators, key=lambda operator: -operator.seconds)
        ],
        kernels=None if window.kernels is None else list(map(_kernel, costliest_kernels(window))),
        cuda_graph_counters=process.cuda_graph_counters,
        lines_problem=window.lines_problem,
        damaged_events=window.damaged_events,
    )


def _part(part: WindowPart, window: ProfileWindow) -> GraphInWindow:
    has_kernels = window.kernels is not None
    return GraphInWindow(
        graph=WhichGraph(*part.part),
        calls=part.calls,
        seconds=part.seconds,
        operator_calls=part.operator_calls,
        operator_seconds=part.operator_seconds,
        kernels=part.kernels if has_kernels else None,
        kernel_seconds=part.kernel_seconds if has_kernels else None,
        cuda_graph_launches=part.cuda_graph_launches if has_kernels else None,
        extra_bytes=part.extra_bytes,
    )


def _kernel(kernel: WindowKernel) -> KernelInWindow:
    return KernelInWindow(
        name=kernel.name,
        graph=_graph(kernel.part),
        device=kernel.device,
        calls=kernel.calls,
        seconds=kernel.seconds,
        bytes=kernel.bytes,
        bytes_per_second=bandwidth(kernel),
        nodes=list(kernel.nodes) or None,
        places=list(kernel.places) or None,
    )


def _graph(part: GraphPart | None) -> WhichGraph | None:
    return None if part is None else WhichGraph(*part)

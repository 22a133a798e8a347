"""What torch's profiler recorded in a window of steady steps."""

from typing import Annotated, Literal, NamedTuple

from ..shared.declared import Count, Seconds
from ..shared.quick_dataclass import dataclass
from .ids import Place


class GraphPart(NamedTuple):
    """A graph, or its backward."""

    number: Annotated[int | None, "null where it is not known which graph's it is"]
    is_backward: bool


@dataclass(frozen=True)
class WindowPart:
    """What a graph, or its backward, did in the window. Kernels are not known where no device was in use."""

    graph: GraphPart
    calls: int
    seconds: Annotated[float, "the host's, without other graphs that it called"]
    operator_calls: int
    operator_seconds: Annotated[float, "the share that torch's profiler attributes to operators"]
    kernels: Count | None
    kernel_seconds: Seconds | None
    cuda_graph_launches: Count | None
    extra_bytes: Annotated[
        dict[str, Count] | None, "by device, the most that a call held beyond what was allocated before it"
    ]


@dataclass(frozen=True)
class WindowOperator:
    """An operator in one graph, or outside of all."""

    name: str
    graph: Annotated[GraphPart | None, "which graph, or its backward; null outside of graphs"]
    calls: int
    self_seconds: float
    total_seconds: float


@dataclass(frozen=True)
class EagerOperator:
    """An operator called outside of graphs and of other operators, at one line."""

    name: str
    place: Annotated[Place | None, "null where it was not recorded"]
    calls: int
    seconds: Annotated[float, "the host's, inclusive"]
    kernel_seconds: Annotated[Seconds | None, "of the kernels that it launched; null without a device"]


@dataclass(frozen=True)
class WindowKernel:
    """A kernel, or a copy, on a device. `bytes` is what it moved, by torch; None where torch does not say.

    `nodes` are the graph nodes that Inductor's code names as its sources, `places` the lines of the nodes.
    """

    name: str
    graph: GraphPart | None
    device: str
    calls: int
    seconds: float
    bytes: int | None
    nodes: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    @property
    def bytes_per_second(self) -> float | None:
        """The bandwidth, where torch says how many bytes were moved."""
        return None if self.bytes is None or not self.seconds else self.bytes / self.seconds


@dataclass(frozen=True)
class WindowSpan:
    """A span that torch itself marks: a step of an optimizer, or waiting for a DataLoader's next batch.

    `name` is the class of the optimizer, or of the loader's iterator. `seconds` are the host's, without other
    spans inside; `in_graphs_seconds` is the part of them inside compiled graphs. A closure that a step calls
    is in its span. `places` are the program's lines that called it; empty where they were not recorded.
    """

    kind: Literal["optimizer step", "loader"]
    name: str
    calls: int
    seconds: float
    in_graphs_seconds: float
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class StepMemory:
    """The memory that a step allocated on a device, in bytes beyond what was allocated as it began.

    `most` is the most at any moment of it, `growth` what is left at its end. On the CPU that is an upper
    bound: torch's profiler does not see there that memory from before it is freed.
    """

    device: str
    most: int
    growth: int


@dataclass(frozen=True)
class ProfileWindow:
    """A window of steady steps in torch's profiler; a step begins with a call of the graph `anchor`.

    `compiles` counts compiles while the window was open, which should be none. `kernels` is None where no
    device was in use when the window opened. `lines_problem` says why lines or memory are missing; `memory`
    is that of the one step that was recorded with allocations, None where there was none.
    """

    anchor: int
    steps: int
    seconds: float
    begin_ns: int
    end_ns: int
    compiles: int
    parts: tuple[WindowPart, ...]
    operators: tuple[WindowOperator, ...]
    eager: tuple[EagerOperator, ...]
    kernels: tuple[WindowKernel, ...] | None
    damaged_events: int
    lines_problem: str | None
    spans: tuple[WindowSpan, ...] = ()
    memory: tuple[StepMemory, ...] | None = None

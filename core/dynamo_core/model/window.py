"""What torch's profiler saw in a window of steady steps."""

from typing import Literal, NamedTuple

from ..shared.quick_dataclass import dataclass
from .ids import Place


class GraphPart(NamedTuple):
    """A graph's forward or its backward. `graph` is None where it is not known which graph's it is."""

    graph: int | None
    is_backward: bool


@dataclass(frozen=True)
class WindowPart:
    """What one part of a graph did in the window.

    `seconds` are the host's, without other parts that it called; `operator_seconds` is what of them torch's
    profiler could give to operators. `extra_bytes` is by device: the most memory that one call held beyond
    what was allocated as it began; None where allocations were not recorded.
    """

    part: GraphPart
    calls: int
    seconds: float
    operator_calls: int
    operator_seconds: float
    kernels: int
    kernel_seconds: float
    cuda_graph_launches: int
    extra_bytes: dict[str, int] | None


@dataclass(frozen=True)
class WindowOperator:
    """An operator in one part of a graph, or outside of all (`part` is None). `seconds` are its own alone."""

    name: str
    part: GraphPart | None
    calls: int
    seconds: float
    total_seconds: float


@dataclass(frozen=True)
class EagerOperator:
    """An operator called outside of graphs and of other operators, at one line (None: not recorded).

    `seconds` are the host's, with all that it called; `kernel_seconds` those of the kernels that it launched.
    """

    name: str
    place: Place | None
    calls: int
    seconds: float
    kernel_seconds: float


@dataclass(frozen=True)
class WindowKernel:
    """A kernel, or a copy, on a device. `bytes` is what torch says it moved; None where it does not.

    `nodes` and `places` are what Inductor's code says it was made of, and the lines of those nodes.
    """

    name: str
    part: GraphPart | None
    device: str
    calls: int
    seconds: float
    bytes: int | None
    nodes: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class WindowSpan:
    """What torch itself marks in a trace: steps of optimizers, and waiting for a DataLoader's next batch.

    `name` is the class of the optimizer, or of the iterator of a loader. `seconds` are the host's, without
    other spans inside; `in_graphs_seconds` of them passed inside compiled graphs. A closure that a step
    calls is in its span. `places` are the program's lines from which it was called; empty: not recorded.
    """

    kind: Literal["optimizer step", "loader"]
    name: str
    calls: int
    seconds: float
    in_graphs_seconds: float
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class ProfileWindow:
    """What torch's profiler saw in a window of steady steps: from calls of `anchor`, a graph, to its next.

    `compiles` were made while it was open, which should be none. `kernels` is None where no device was used
    as the window opened. `lines_problem` says why lines or memory are missing.
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

"""The graphs that Dynamo handed to a backend, under which settings, and who took them."""

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place

# How often and how long compiled graphs ran, in the host's time.


class CallSample(NamedTuple):
    """One call of a compiled graph: which (from 1), when (nanoseconds since the epoch), how long.

    `since_previous` is the time since the call before it, of the callable with index `previous`, had ended;
    None where that is not known, or something was compiled in between.
    """

    number: int
    began_ns: int
    seconds: float
    since_previous: float | None = None
    previous: int | None = None


@dataclass(frozen=True)
class CallTimes:
    """The calls of a compiled graph, or of its backward, in the host's time.

    `histogram` counts them by duration: (from, to) in nanoseconds. `early` are the first ones, `samples` some
    of all, evenly spread. `guard_seconds` is what evaluating the frame's guards took, on average, and
    `device_seconds` what a call took on the GPU's stream, on average over `device_samples` of them. `raised`
    calls ended in an error; one that has not returned, `running_since_ns`, is in none of the counts. Of a
    graph whose calls are short, `untimed` of them were counted only: `seconds` is then extrapolated from the
    others, which are those in the histogram, and the running one began at `running_since_ns` or later.
    """

    calls: int
    seconds: float
    histogram: Mapping[tuple[int, int], int]
    early: tuple[CallSample, ...]
    samples: tuple[CallSample, ...]
    guard_seconds: float | None
    device_seconds: float | None = None
    device_samples: int = 0
    running_since_ns: int | None = None
    raised: int = 0
    untimed: int = 0
    is_running_since_exact: bool = True

    @property
    def guard_seconds_in_all(self) -> float | None:
        """What the guards took for all calls; None where no evaluation was timed."""
        return None if self.guard_seconds is None else self.calls * self.guard_seconds

    def percentile(self, share: float) -> float | None:
        """Seconds below which this share (0 to 1) of the calls lies; None if none is timed.

        Exact where every timed call was noted by itself, else from the histogram, to within 6 %.
        """
        timed = self.calls - self.untimed
        wanted = share * timed
        if 0 < timed <= len(self.early):
            return sorted(call.seconds for call in self.early)[max(0, math.ceil(wanted) - 1)]
        for (low, high), count in sorted(self.histogram.items()):
            wanted -= count
            if wanted <= 0:
                return (low + high) / 2e9
        return None


# The graphs that Dynamo handed to a backend, under which settings, and who took them.


@dataclass(frozen=True)
class TensorInfo:
    """What Dynamo knew of a tensor; symbolic sizes are given by name (`s77`)."""

    shape: tuple[int | str, ...]
    stride: tuple[int | str, ...] | None
    dtype: str
    device: str
    requires_grad: bool = False


@dataclass(frozen=True)
class Node:
    """A node of an FX graph. `tensors` has one entry for a tensor, several for a tuple of them.

    `inputs` names the nodes that it reads; `source` says where the frame finds a placeholder's value. Where
    `place` is in an installed package, `called_from` is the program's own line that leads there.
    """

    op: Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root"]
    name: str
    target: str
    args: str
    kwargs: str
    inputs: tuple[str, ...] = ()
    tensors: tuple[TensorInfo, ...] = ()
    symbol: str | None = None
    source: str | None = None
    is_parameter: bool = False
    place: Place | None = None
    called_from: Place | None = None


@dataclass(frozen=True)
class GraphModes:
    """Settings of torch under which a graph was compiled, and without which it computes something else.

    `autocast` has the dtype of each type of device for which it was on. None is not recorded.
    """

    grad_enabled: bool
    autocast: Mapping[str, str]
    float32_matmul_precision: str | None
    default_dtype: str | None = None


class DeclinedBy(NamedTuple):
    """A backend that did not take a graph, and why."""

    backend: str
    reason: str


@dataclass(frozen=True)
class AssignedBackend:
    """Which backend of those that were named took a graph, and those asked before it.

    `by` is None where none did: the graph runs eager, or with --strict was an error. `using` is the backend
    that one which chooses among others (`autotuned`) chose.
    """

    by: str | None
    using: str | None
    declined: tuple[DeclinedBy, ...]


@dataclass(frozen=True)
class OperatorSource:
    """Where an operator that is not torch's own is registered; `module` is None where that is not known."""

    place: Place
    module: str | None


@dataclass(frozen=True)
class UnrolledLoop:
    """Where at least half of a graph's ops come from, `ops` of them; most of those are there `times` times.

    It is a loop, or where no `is_loop` a function that one of torch's own calls, as nn.Sequential has. Where
    that is in an installed package, `called_from` is the program's own line that leads there.
    """

    place: Place
    text: str
    ops: int
    times: int
    is_loop: bool
    called_from: Place | None


@dataclass
class Graph:
    """A graph that Dynamo handed to a backend. `number` counts from 1 within the process.

    `calls` and `host_seconds` (time inside the compiled callable, as the host saw it) are None where they
    could not be counted. `nodes` and `code` (the readable module) are None where they were not recorded or
    not asked for. `times` has more on the calls, and `backward` has those of the backward graph, where its
    backend is Inductor. `ops` is the number of `call_*` nodes, which is what Dynamo counts as ops. A
    specialization is a further compile of a graph that counts already. `key` names what the graph computes
    (`graph_key.py`), `trains` says whether gradients can be asked for, `threads` is torch's number of them.
    `method` is that of its frame, as in `Frame`.
    `optimizer_steps` are the files of the optimizers whose step is in it; None where that was not recorded.
    `custom_operators` are those that are not torch's own, by `namespace::name`, where their source is known.
    `assigned_backend` is None where torch gave the graph to the only backend, or that was not recorded.
    `loop` is known of graphs of 100 ops and more, of which most come from one.
    """

    number: int
    compile_id: CompileId | None
    attempt: int
    name: str | None
    backend: str | None
    ops: int | None
    nodes: tuple[Node, ...] | None = None
    code: str | None = None
    frame_name: str | None = None
    frame_place: Place | None = None
    method: str | None = None
    is_compiled: bool = False
    is_specialization: bool = False
    backend_seconds: float | None = None
    calls_index: int | None = None
    calls: int | None = None
    host_seconds: float | None = None
    times: CallTimes | None = None
    backward_index: int | None = None
    backward: CallTimes | None = None
    key: str | None = None
    trains: bool | None = None
    modes: GraphModes | None = None
    threads: int | None = None
    optimizer_steps: tuple[str, ...] | None = None
    loop: UnrolledLoop | None = None
    assigned_backend: AssignedBackend | None = None
    custom_operators: Mapping[str, OperatorSource] = field(default_factory=dict)

    @property
    def is_running(self) -> bool:
        """Whether a call of it had begun and not returned when the recording was read, or ended."""
        return self.times is not None and self.times.running_since_ns is not None


# What AOTAutograd made of a graph: its forward, its backward, and what is saved between them.


@dataclass(frozen=True)
class SavedTensor:
    """A value that a forward graph saves for its backward.

    `kind` says where its memory comes from: input (of the forward, a parameter among them), output (which the
    user is given too), or activation. `storage` names the node that made the memory. Bytes are those of the
    elements, for symbolic sizes with the values that it was compiled with; None where they are not known.
    `tensor` is None for a size, of which `symbol` is the expression, and for other values.
    """

    name: str
    kind: Literal["input", "output", "activation"]
    operator: str | None
    tensor: TensorInfo | None
    symbol: str | None
    bytes: int | None
    storage: str
    storage_bytes: int | None
    place: Place | None

    @property
    def has_symbolic_size(self) -> bool:
        """Whether its size depends on what the graph is called with."""
        return self.tensor is not None and any(isinstance(size, str) for size in self.tensor.shape)


@dataclass(frozen=True)
class AotPair:
    """The forward and backward graph that AOTAutograd made of a graph of Dynamo's, or of a part of it.

    Operators are counted by name (`aten.mm`). `inputs` and `outputs` are the forward's own, without what is
    saved; `tangents` and `gradients` those of the backward. `recomputed` are operators of the forward that
    the backward computes again, views aside. `graph` is None where the graph's number was not recorded.
    """

    compile_id: CompileId | None
    attempt: int
    graph: int | None
    joint: Mapping[str, int] | None
    forward: Mapping[str, int]
    backward: Mapping[str, int]
    inputs: int
    outputs: int
    tangents: int
    gradients: int
    saved: tuple[SavedTensor, ...]
    recomputed: Mapping[str, int]


@dataclass(frozen=True)
class Optimizer:
    """A class of optimizers that the program made one of, and the file that its `step` is written in."""

    name: str
    module: str
    file: str

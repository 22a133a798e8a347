"""Graphs that Dynamo handed to a backend: nodes, settings, backend, calls, and AOTAutograd's pairs."""

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal, NamedTuple

from ..shared.cuda_graph_event import CudaGraphStep, RecordedAgain
from ..shared.declared import NOT_IN_JSON
from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place, StackFrame


class CallSample(NamedTuple):
    """One call of a compiled graph: its number (from 1), its begin (ns since the epoch), its duration.

    `since_previous` is the time since the end of the call before it, which was of the callable with index
    `previous`; None where that is not known, or something was compiled in between.
    """

    number: int
    began_ns: int
    seconds: float
    since_previous: float | None = None
    previous: int | None = None


@dataclass(frozen=True)
class CallTimes:
    """The calls of a compiled graph, or of its backward, in the host's time.

    `histogram` counts calls by duration: (from, to) in nanoseconds. `early` are the first calls, `samples`
    some of all calls, evenly spread. `guard_seconds` is the mean time of evaluating the frame's guards, and
    `device_seconds` the mean time of a call on the GPU's stream, over `device_samples` calls. `raised` calls
    ended in an error. A call that has not returned, since `running_since_ns`, is in none of the counts. Where
    calls are short, `untimed` calls were only counted: `seconds` is then extrapolated from the timed calls,
    which the histogram has, and the running call began at `running_since_ns` or later.
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
        """The time of evaluating the guards for all calls; None where no evaluation was timed."""
        return None if self.guard_seconds is None else self.calls * self.guard_seconds

    def percentile(self, share: float) -> float | None:
        """The seconds below which this share (0 to 1) of the calls lies; None without timed calls.

        Exact where `early` has every timed call, else from the histogram, to within 6 %.
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


@dataclass(frozen=True)
class TensorInfo:
    """What Dynamo knew about a tensor."""

    shape: Annotated[tuple[int | str, ...], "symbolic sizes by name"]
    stride: Annotated[tuple[int | str, ...] | None, "null for a tensor that is not strided"]
    dtype: Annotated[str, "as in torch.float32, without the torch."]
    device: Annotated[str, "as in cuda:0"]
    requires_grad: Annotated[bool, "as Dynamo knew it while it traced"] = False


@dataclass(frozen=True)
class Node:
    """A node of an FX graph, as torch.fx has it."""

    op: Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root"]
    name: Annotated[str, "by which others refer to it"]
    target: Annotated[str, "what is called: torch.abs, operator.add, a method's name"]
    args: Annotated[str, "as torch.fx prints them"]
    kwargs: Annotated[str, "as torch.fx prints them"]
    inputs: Annotated[tuple[str, ...], "the names of the nodes that it reads, each once"] = ()
    tensors: Annotated[tuple[TensorInfo, ...], "one for a tensor, several for a tuple of them"] = ()
    symbol: Annotated[str | None, "the expression, where the value is a symbolic number"] = None
    source: Annotated[str | None, "where the frame finds a placeholder's value"] = None
    is_parameter: Annotated[bool, "whether a placeholder's value is a torch.nn.Parameter"] = False
    place: Annotated[Place | None, "the innermost line of the user's that made the node"] = None
    called_from: Annotated[Place | None, "the program's own line, where `place` is in a package"] = None


@dataclass(frozen=True)
class GraphModes:
    """Settings of torch under which a graph was compiled, which change what it computes.

    `autocast` has the dtype of each type of device for which it was on. None: not recorded.
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
    """Which backend of a chain took a graph, and which backends declined it before."""

    by: Annotated[
        str | None,
        "the backend that took it; null: none, so that it runs eager, or was an error under --strict",
    ]
    using: Annotated[str | None, "the backend that one which chooses among others chose"]
    declined: Annotated[tuple[DeclinedBy, ...], "those asked before it, in order"]


@dataclass(frozen=True)
class OperatorSource:
    """Where an operator that is not torch's own is registered; `module` is None where that is not known."""

    place: Place
    module: str | None


@dataclass(frozen=True)
class UnrolledLoop:
    """A loop that Dynamo unrolled into at least half of a graph's ops: `ops`, most of them `times` times.

    Without `is_loop` it is a function that a loop of torch's own calls, as in nn.Sequential. Where `place` is
    in an installed package, `called_from` is the program's own line that leads there.
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
    not requested. `times` has more on the calls, and `backward` the calls of the backward graph, where its
    backend is Inductor. `ops` is the number of `call_*` nodes, which is what Dynamo counts as ops. A
    specialization is a further compile of a graph that is counted already. `key` identifies what the graph
    computes (`graph_key.py`), `trains` says whether gradients can be requested, `threads` is torch's number
    of threads, `method` is that of its frame, as in `Frame`. `optimizer_steps` are the files of the
    optimizers whose step is in it; None where that was not recorded. `custom_operators` are operators that
    are not torch's own, by `namespace::name`, where their source is known. `assigned_backend` is None where
    torch gave the graph to the only backend, or that was not recorded. `loop` is set for graphs of 100 ops
    and more, where most ops come from one loop. `drawn_for_numpy` is the first line whose random numbers are
    NumPy's in plain Python, and torch's in the graph. `returned_otherwise` says in what its first result is
    not the tuple of its outputs.
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
    drawn_for_numpy: StackFrame | None = None
    assigned_backend: AssignedBackend | None = None
    returned_otherwise: str | None = None
    custom_operators: Mapping[str, OperatorSource] = field(default_factory=dict)

    @property
    def is_running(self) -> bool:
        """Whether a call of the graph had not returned when the recording was read, or ended."""
        return self.times is not None and self.times.running_since_ns is not None

    @property
    def is_untaken(self) -> bool:
        """Whether none of the backends that were asked took it."""
        return self.assigned_backend is not None and self.assigned_backend.by is None

    @property
    def seconds_with_backward(self) -> float | None:
        """The seconds in its calls and in those of its backward graph, as the host saw them."""
        if self.host_seconds is None:
            return None
        return self.host_seconds + (self.backward.seconds if self.backward is not None else 0.0)


@dataclass(frozen=True)
class CudaGraphNoted:
    """What became of a compiled graph, or of its backward, that was to run as CUDA graphs: one event.

    The fields are those of `CudaGraphEvent`; `compile_id` is None where torch does not say which graph it is.
    """

    compile_id: CompileId | None
    what: CudaGraphStep
    part: int | None = None
    function: int | None = None
    again: RecordedAgain | None = None
    reason: str | None = None
    line: StackFrame | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class SavedTensor:
    """A value that a forward graph saves for its backward.

    `kind` says where its memory comes from: input (of the forward, also a parameter), output (which the user
    gets too), or activation. `tensor` is None for a size and for other values.
    """

    name: Annotated[str, "of the node in the forward graph"]
    kind: Literal["input", "output", "activation"]
    operator: Annotated[str | None, "that made it; null for an input"]
    tensor: TensorInfo | None = field(metadata=NOT_IN_JSON)
    symbol: Annotated[str | None, "the expression of a symbolic size"]
    bytes: Annotated[int | None, "of its elements, for symbolic sizes those met when compiling"]
    storage: Annotated[str, "the node that made its memory; several tensors may share one"]
    storage_bytes: int | None
    place: Annotated[Place | None, "the user's line"]

    @property
    def has_symbolic_size(self) -> bool:
        """Whether the size of the tensor depends on the graph's inputs."""
        return self.tensor is not None and any(isinstance(size, str) for size in self.tensor.shape)


@dataclass(frozen=True)
class AotPair:
    """The forward and backward graph that AOTAutograd made of a graph of Dynamo's, or of a part of it.

    Operators are counted by name (`aten.mm`). `inputs` and `outputs` are the forward's, without saved values;
    `tangents` and `gradients` the backward's. `recomputed` are operators of the forward that the backward
    computes again, without views. `graph` is None where the graph's number was not recorded.
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

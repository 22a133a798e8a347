"""The graphs that Dynamo handed to a backend, under which settings, and who took them."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from ..shared.quick_dataclass import dataclass
from .calls import CallTimes
from .ids import CompileId, Place


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

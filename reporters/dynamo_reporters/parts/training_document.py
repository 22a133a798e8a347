"""Forward and backward graphs, as documents have them."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar

from dynamo_core.analysis.training import KINDS, captured_steps, ops_of, pairs_of, saved_by
from dynamo_core.model import AotPair, Graph, Process, SavedTensor
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import INLINE
from dynamo_core.shared.quick_dataclass import dataclass

_RECOMPUTED = "of the backward graph, those that the forward has computed too, without views and sizes"


@dataclass(frozen=True)
class PairOperators:
    """How many nodes call each operator, by the operator's name, in the graphs of a pair."""

    in_common: ClassVar[str] = "pair_operators"

    joint: Annotated[Mapping[str, int] | None, "null where the joint graph was not recorded"]
    forward: Mapping[str, int]
    backward: Mapping[str, int]
    recomputed: Annotated[Mapping[str, int], _RECOMPUTED]


@dataclass(frozen=True)
class PairTotals:
    """A forward and a backward graph in numbers."""

    in_common: ClassVar[str] = "pair_totals"

    joint_ops: Annotated[int | None, "null where the joint graph was not recorded"]
    forward_ops: Annotated[int, "call_* nodes of the forward graph"]
    backward_ops: Annotated[int, "call_* nodes of the backward graph"]
    recomputed_ops: Annotated[int, _RECOMPUTED]
    saved_tensors: Annotated[int, "tensors that the forward saves for the backward"]
    saved_kinds: Annotated[
        Mapping[str, int],
        "inputs, parameters and views of them (input), what the user is given too (output), the others "
        "(activation)",
    ]
    saved_sizes: Annotated[int, "symbolic sizes that are saved"]
    saved_bytes: Annotated[int | None, "of the elements of all saved tensors; null where a size is not known"]
    activation_bytes: Annotated[
        int | None, "of the storages of the activations, each once, as the graph has them"
    ]
    is_symbolic: Annotated[bool, "whether the bytes are for the sizes met when compiling"]


@dataclass(frozen=True)
class Saved:
    """What the forward saves for the backward."""

    value: SavedTensor = field(metadata=INLINE)
    shape: Annotated[tuple[int | str, ...] | None, "symbolic sizes by name; null for what is no tensor"]
    dtype: str | None
    device: str | None


@dataclass(frozen=True)
class Pair(PairTotals, PairOperators):
    """A forward and a backward graph that AOTAutograd made of one."""

    in_common: ClassVar[str] = "pair"

    inputs: Annotated[int, "of the forward graph"]
    outputs: Annotated[int, "of the forward graph, without what is saved"]
    tangents: Annotated[int, "gradients that the backward graph is given"]
    gradients: Annotated[int, "that it returns"]
    saved: Annotated[list[Saved], "in the order of the forward's results"]


@dataclass(frozen=True)
class OptimizerMade:
    """An optimizer that the program made."""

    name: str
    module: str
    graphs: Annotated[list[int] | None, "the graphs that hold its step"]


def pairs_in(graph: Graph, process: Process) -> list[Pair] | None:
    """All about the pairs of a graph."""
    pairs = pairs_of(graph, process)
    return None if pairs is None else list(map(_pair, pairs))


def totals_in(graph: Graph, process: Process) -> list[PairTotals] | None:
    """The pairs of a graph in numbers."""
    pairs = pairs_of(graph, process)
    return None if pairs is None else [PairTotals(**_totals(pair)) for pair in pairs]


def operators_of(pair: AotPair) -> PairOperators:
    """The operators of a pair, by name."""
    return from_fields(PairOperators, pair)


def optimizers_of(process: Process) -> list[OptimizerMade] | None:
    """The optimizers that the program made, and the graphs that hold their steps."""
    if not process.is_ours:
        return None
    return [
        OptimizerMade(optimizer.name, optimizer.module, graphs)
        for optimizer, graphs in captured_steps(process)
    ]


def _pair(pair: AotPair) -> Pair:
    return from_fields(Pair, pair, **_totals(pair), saved=list(map(_saved, pair.saved)))


def _totals(pair: AotPair) -> dict[str, Any]:
    saved, ops = saved_by([pair]), ops_of([pair])
    return {
        "joint_ops": ops.joint,
        "forward_ops": ops.forward,
        "backward_ops": ops.backward,
        "recomputed_ops": ops.recomputed,
        "saved_tensors": len(saved.tensors),
        "saved_kinds": {kind: saved.count(kind) for kind in KINDS},
        "saved_sizes": saved.symbols,
        "saved_bytes": saved.bytes,
        "activation_bytes": saved.memory,
        "is_symbolic": saved.is_symbolic,
    }


def _saved(value: SavedTensor) -> Saved:
    tensor = value.tensor
    return Saved(value, None, None, None) if tensor is None else from_fields(Saved, tensor, value=value)

"""Forward and backward graphs as JSON values, as `schemas/training.schema.json` describes them."""

from typing import Annotated, Any

from dynamo_core.analysis.training_pairs import KINDS, captured_in, ops_of, pairs_of, saved_by
from dynamo_core.model import AotPair, Graph, Process, SavedTensor
from dynamo_core.shared.quick_dataclass import dataclass

from ...documents import json_value
from ...report import place_value


def pairs_value(graph: Graph, process: Process) -> list[dict[str, Any]] | None:
    """All about the pairs of a graph."""
    pairs = pairs_of(graph, process)
    if pairs is None:
        return None
    return [
        {
            **json_value(operators_of(pair)),
            **_totals(pair),
            "inputs": pair.inputs,
            "outputs": pair.outputs,
            "tangents": pair.tangents,
            "gradients": pair.gradients,
            "saved": [_saved(value) for value in pair.saved],
        }
        for pair in pairs
    ]


def totals_value(graph: Graph, process: Process) -> list[dict[str, Any]] | None:
    """The pairs of a graph in numbers."""
    pairs = pairs_of(graph, process)
    return None if pairs is None else [_totals(pair) for pair in pairs]


@dataclass(frozen=True)
class PairOperators:
    """How many nodes call each operator, by the operator's name, in the graphs of a pair."""

    joint: Annotated[dict[str, int] | None, "null where the joint graph was not recorded"]
    forward: dict[str, int]
    backward: dict[str, int]
    recomputed: Annotated[dict[str, int], "of the forward graph, that the backward graph computes again"]


def operators_of(pair: AotPair) -> PairOperators:
    """The operators of a pair, by name."""
    return PairOperators(
        joint=None if pair.joint is None else dict(pair.joint),
        forward=dict(pair.forward),
        backward=dict(pair.backward),
        recomputed=dict(pair.recomputed),
    )


def optimizers_value(process: Process) -> list[dict[str, Any]] | None:
    """The optimizers that the program made, and the graphs that hold their steps."""
    if not process.is_ours:
        return None
    return [
        {
            "name": optimizer.name,
            "module": optimizer.module,
            "graphs": captured_in(process, optimizer.file),
        }
        for optimizer in process.entire.optimizers
    ]


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


def _saved(value: SavedTensor) -> dict[str, Any]:
    tensor = value.tensor
    return {
        "name": value.name,
        "kind": value.kind,
        "operator": value.operator,
        "shape": None if tensor is None else list(tensor.shape),
        "dtype": None if tensor is None else tensor.dtype,
        "device": None if tensor is None else tensor.device,
        "symbol": value.symbol,
        "bytes": value.bytes,
        "storage": value.storage,
        "storage_bytes": value.storage_bytes,
        "place": place_value(value.place),
    }

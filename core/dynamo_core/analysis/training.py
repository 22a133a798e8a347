"""Forward and backward graphs in numbers: whose they are, and what the one saves for the other."""

from collections.abc import Iterable
from typing import NamedTuple

from ..model import AotPair, Graph, Optimizer, Process, SavedTensor
from ..shared.aot_pair import ACTIVATION, INPUT, OUTPUT
from ..shared.quick_dataclass import dataclass

KINDS = (INPUT, OUTPUT, ACTIVATION)
_FORWARD_TEXT = "aot_forward_graph"  # torch's record of a graph that has a backward


def pairs_of(graph: Graph, process: Process) -> list[AotPair] | None:
    """The pairs that AOTAutograd made of a graph: none for inference, several where the graph was split.

    None where the graph has a backward that was called, but no pair is recorded, and where none was read, or
    could be recorded of a graph that may train.
    """
    by_graph = process.pairs_by_graph
    in_order = sorted(
        by_graph.get(graph.number, []) + by_graph.get((graph.compile_id, graph.attempt), []),
        key=lambda numbered: numbered[0],
    )
    found = [pair for _, pair in in_order]
    may_train = "forward and backward graphs" in process.health.failed_probes and graph.trains is not False
    is_unknown = graph.backward_index is not None or may_train or are_unread(process)
    return None if not found and is_unknown else found


def are_unread(process: Process) -> bool:
    """Whether there is text of pairs, but none of it was read: `explain` leaves that of plain traces."""
    entire = process.entire
    return not entire.pairs and _FORWARD_TEXT in entire.health.record_counts


class Ops(NamedTuple):
    """How many ops the graphs of some pairs have; `joint` is None where it was not recorded."""

    joint: int | None
    forward: int
    backward: int
    recomputed: int


def ops_of(pairs: Iterable[AotPair]) -> Ops:
    """The ops of these pairs together."""
    listed = list(pairs)
    return Ops(
        _sum(None if pair.joint is None else sum(pair.joint.values()) for pair in listed),
        sum(sum(pair.forward.values()) for pair in listed),
        sum(sum(pair.backward.values()) for pair in listed),
        sum(sum(pair.recomputed.values()) for pair in listed),
    )


@dataclass(frozen=True)
class Saved:
    """What is saved for a backward, in sum.

    `bytes` are those of the tensors, None where not all are known; `memory` those of the storages that
    neither inputs nor outputs have. Where `is_symbolic`, both are for the sizes that were met when compiling.
    """

    tensors: tuple[SavedTensor, ...]
    symbols: int
    bytes: int | None
    memory: int | None
    is_symbolic: bool

    def count(self, kind: str) -> int:
        """How many of the tensors are of this kind."""
        return sum(tensor.kind == kind for tensor in self.tensors)


def saved_by(pairs: Iterable[AotPair]) -> Saved:
    """What these pairs save together, the largest tensor first."""
    saved = [(number, value) for number, pair in enumerate(pairs) for value in pair.saved]
    tensors = [value for _, value in saved if value.tensor is not None]
    storages = {
        (number, value.storage): value.storage_bytes
        for number, value in saved
        if value.tensor is not None and value.kind == ACTIVATION
    }
    return Saved(
        tensors=tuple(sorted(tensors, key=lambda value: -(value.bytes or 0))),
        symbols=sum(value.symbol is not None for _, value in saved),
        bytes=_sum(value.bytes for value in tensors),
        memory=_sum(storages.values()),
        is_symbolic=any(value.has_symbolic_size for value in tensors),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def captured_steps(process: Process) -> list[tuple[Optimizer, list[int] | None]]:
    """The optimizers that the program made, each with the graphs that hold steps of it.

    None in place of the graphs where that was not recorded.
    """
    graphs = process.entire.compiled_graphs
    are_recorded = "graphs" not in process.health.failed_probes and all(
        graph.optimizer_steps is not None for graph in graphs
    )
    by_file: dict[str, list[int]] = {}
    for graph in graphs:
        for file in dict.fromkeys(graph.optimizer_steps or ()):
            by_file.setdefault(file, []).append(graph.number)
    return [
        (optimizer, by_file.get(optimizer.file, []) if are_recorded else None)
        for optimizer in process.entire.optimizers
    ]

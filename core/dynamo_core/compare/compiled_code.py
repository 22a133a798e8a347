"""What was made of a graph: the kernels that Inductor generated, and what is saved for the backward."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ..analysis.training_pairs import Saved, pairs_of, saved_by
from ..model import CompileId, Recording, SavedTensor
from ..shared.aot_pair import INPUT
from .difference import KernelChange, OpChange, SavedChange
from .graph_pairs import OneGraph
from .node_changes import SourceLines

_NUMBER = re.compile(r"_\d{1,9}$")  # kernels of one code are counted


class CompiledCode:
    """What was made of each graph of a recording."""

    def __init__(self, recording: Recording) -> None:
        self.lines = SourceLines(recording)
        self._kernels: dict[tuple[str, CompileId | None], Counter[str]] = {}
        for process in recording.processes:
            for code in process.kernels:
                counted = self._kernels.setdefault((process.stream.name, code.compile_id), Counter())
                for name, calls in code.calls.items():
                    counted[_NUMBER.sub("", name)] += max(calls, 1)

    def kernels(self, of: OneGraph) -> Counter[str] | None:
        """Calls of kernels, forward and backward, by the name without its number; None if not recorded."""
        return self._kernels.get((of.process.stream.name, of.graph.compile_id))

    def saved(self, of: OneGraph) -> Saved | None:
        """What the forward saves; None where that is not recorded, and where there is no backward."""
        pairs = pairs_of(of.graph, of.process)
        return saved_by(pairs) if pairs else None


Codes = tuple[CompiledCode, CompiledCode]


def kernel_change(was: OneGraph, now: OneGraph, codes: Codes) -> KernelChange | None:
    """Where running the graph takes other kernels."""
    before, after = codes[0].kernels(was), codes[1].kernels(now)
    if before is None or after is None or before == after:
        return None
    return KernelChange(
        before.total(), after.total(), tuple((before - after).elements()), tuple((after - before).elements())
    )


def saved_change(was: OneGraph, now: OneGraph, codes: Codes) -> SavedChange | None:
    """Where the forward saves more or less than it did."""
    before, after = codes[0].saved(was), codes[1].saved(now)
    if before is None or after is None or before.bytes is None or after.bytes is None:
        return None
    if before.bytes == after.bytes:
        return None
    came = _beyond(after.tensors, before.tensors)
    went = _beyond(before.tensors, after.tensors)
    tensors = (*_changes(came, 1, codes[1].lines), *_changes(went, -1, codes[0].lines))
    return SavedChange(before.bytes, after.bytes, tensors)


def _beyond(tensors: Sequence[SavedTensor], others: Sequence[SavedTensor]) -> list[SavedTensor]:
    waiting = Counter(map(_made_by, others))
    left = []
    for tensor in tensors:
        waiting[_made_by(tensor)] -= 1
        if waiting[_made_by(tensor)] < 0:
            left.append(tensor)
    return left


def _made_by(tensor: SavedTensor) -> str:
    """The node that made the memory: a view of it, or what detaches it, is the same to save."""
    return INPUT if tensor.kind == INPUT else _NUMBER.sub("", tensor.storage)


def _changes(tensors: Sequence[SavedTensor], sign: int, lines: SourceLines) -> Iterator[OpChange]:
    for (op, place), count in Counter((_made_by(each), each.place) for each in tensors).items():
        yield OpChange(op, sign * count, place, lines.at(place))

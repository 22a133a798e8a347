"""What differs between two graphs that belong together: ops, and the tensors of what both have."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from ..analysis.training import Saved, pairs_of, saved_by
from ..model import CompileId, Node, Place, Recording, SavedTensor, TensorInfo
from ..shared.aot_pair import INPUT
from ..shared.graph_key import canonical_lines
from .difference import ArgumentChange, KernelChange, OpChange, SavedChange, TensorChange
from .graph_pairs import OneGraph, op_of

# Pairs of the same op in what is left of two sequences, above which aligning these would take long.
_MOST_PAIRS = 1_000_000
_TERM = re.compile(r"[^\s,*()\[\]]+")
_SYMBOL = re.compile(r"\b[a-z]{1,3}\d{1,9}\b")  # of a size: torch/utils/_sympy/symbol.py (prefix_str)

_TRAITS: tuple[tuple[str, Callable[[TensorInfo], str]], ...] = (
    ("dtype", lambda tensor: tensor.dtype),
    ("device", lambda tensor: tensor.device),
    ("requires_grad", lambda tensor: str(tensor.requires_grad)),
    ("shape", lambda tensor: f"[{', '.join(map(str, tensor.shape))}]"),
)


class SourceLines:
    """The text of the program's lines, as far as a recording has it with the bytecode of frames."""

    def __init__(self, recording: Recording) -> None:
        self._lines: dict[str, dict[int, str]] = {}
        for process in recording.processes:
            for code in process.bytecodes:
                self._lines.setdefault(code.place.file, {}).update(code.source)

    def at(self, place: Place | None) -> str:
        """The line, without its indentation; empty where it is not recorded."""
        return "" if place is None else self._lines.get(place.file, {}).get(place.line, "").strip()


Pieces = list[tuple[int, int, int, int, bool]]


def aligned(before: Sequence[Node], after: Sequence[Node]) -> Pieces:
    """Which nodes (from, to, from, to) stand for each other, and whether they are the same ops."""
    was, now = [op_of(node) for node in before], [op_of(node) for node in after]
    begin, limit = 0, min(len(was), len(now))
    while begin < limit and was[begin] == now[begin]:
        begin += 1
    end = 0
    while end < limit - begin and was[-1 - end] == now[-1 - end]:
        end += 1
    was_end, now_end = len(was) - end, len(now) - end
    pieces: Pieces = [(0, begin, 0, begin, True)]
    counted = Counter(was[begin:was_end])
    if sum(counted[op] for op in now[begin:now_end]) > _MOST_PAIRS:
        pieces.append((begin, was_end, begin, now_end, False))
    else:
        matcher = SequenceMatcher(None, was[begin:was_end], now[begin:now_end], autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            pieces.append((begin + i, begin + j, begin + k, begin + m, tag == "equal"))
    pieces.append((was_end, len(was), now_end, len(now), True))
    return pieces


def op_changes(
    before: Sequence[Node], after: Sequence[Node], pieces: Pieces, lines: tuple[SourceLines, SourceLines]
) -> tuple[OpChange, ...]:
    """The ops that came and went, in the order of the graph; those of one line and kind together."""
    found: dict[tuple[int, str, Place | None], OpChange] = {}
    for i, j, k, m, is_same in pieces:
        if is_same:
            continue
        for sign, nodes, known in ((-1, before[i:j], lines[0]), (1, after[k:m], lines[1])):
            for node in nodes:
                key = sign, op_of(node), node.place
                was = found.get(key) or OpChange(op_of(node), 0, node.place, known.at(node.place))
                found[key] = replace(was, count=was.count + sign)
    return tuple(found.values())


def tensor_changes(
    before: Sequence[Node], after: Sequence[Node], pieces: Pieces, lines: tuple[SourceLines, SourceLines]
) -> tuple[TensorChange, ...]:
    """What differs in values that both have: of each change the first value, from which the others follow."""
    found: dict[tuple[str, str, str], TensorChange] = {}
    symbols: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for was, now in _same_nodes(before, after, pieces):
        for of_was, of_now in zip(was.tensors, now.tensors, strict=False):
            if of_was == of_now and not any(isinstance(size, str) for size in of_was.shape):
                continue
            for what, trait in _TRAITS:
                before_text, after_text = trait(of_was), trait(of_now)
                if _numbered(before_text, symbols[0]) == _numbered(after_text, symbols[1]):
                    continue
                key = what, before_text, after_text
                if key in found:
                    found[key] = replace(found[key], values=found[key].values + 1)
                    continue
                text = lines[1].at(now.place)
                found[key] = TensorChange(*key, 1, now.name, was.place, now.place, text)  # type: ignore[arg-type]
    return tuple(_first_of_each(found))


def argument_change(
    before: Sequence[Node], after: Sequence[Node], lines: SourceLines
) -> ArgumentChange | None:
    """The first node that does the same with other arguments; None where there is none."""
    was_lines, now_lines = (
        canonical_lines([_as_recorded(node) for node in nodes]) for nodes in (before, after)
    )
    for was, now, one, other in zip(before, after, was_lines, now_lines, strict=False):
        if one != other:
            texts = (was.args, now.args) if was.args != now.args else (was.kwargs, now.kwargs)
            return ArgumentChange(op_of(now), *texts, was.place, now.place, lines.at(now.place))
    return None


def _as_recorded(node: Node) -> Mapping[str, str]:
    return {name: getattr(node, name) for name in ("name", "op", "target", "args", "kwargs")}


def _first_of_each(found: Mapping[tuple[str, str, str], TensorChange]) -> Iterator[TensorChange]:
    """Of each trait what changed first: one size that changes makes many shapes others."""
    for what, _ in _TRAITS:
        of_trait = [change for change in found.values() if change.what == what]
        if of_trait:
            yield replace(of_trait[0], values=sum(change.values for change in of_trait))


def _same_nodes(before: Sequence[Node], after: Sequence[Node], pieces: Pieces) -> Iterator[tuple[Node, Node]]:
    for i, j, k, m, is_same in pieces:
        if is_same:
            yield from zip(before[i:j], after[k:m], strict=True)


def _numbered(text: str, known: dict[str, str]) -> str:
    """With symbols of sizes by their order: what they are called is made of the names of locals.

    The terms of a sum or product stand in the order of these names.
    """
    numbered = _SYMBOL.sub(lambda name: known.setdefault(name[0], f"?{len(known)}"), text)
    return numbered if numbered == text else " ".join(sorted(_TERM.findall(numbered)))


# What was made of a graph: the kernels that Inductor generated, and what is saved for the backward.


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

"""What differs between two paired graphs: ops, tensors, arguments, generated kernels and saved tensors."""

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
from .graph_pairs import ComparedGraph, op_of, surplus

# The most pairs of the same op in two sequences for which these are aligned: more would take long.
_MOST_PAIRS = 1_000_000
_TERM = re.compile(r"[^\s,*()\[\]]+")
# Symbols of sizes: torch/utils/_sympy/symbol.py (prefix_str)
_SYMBOL = re.compile(r"\b[a-z]{1,3}\d{1,9}\b")
_NUMBER = re.compile(r"_\d{1,9}$")  # Inductor numbers kernels of the same code

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
        """The line at a place, without its indentation; empty where it is not recorded."""
        return "" if place is None else self._lines.get(place.file, {}).get(place.line, "").strip()


Pieces = list[tuple[int, int, int, int, bool]]


def align(before: Sequence[Node], after: Sequence[Node]) -> Pieces:
    """Ranges of nodes (from, to, from, to) that correspond, and whether they are the same ops."""
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
    """The ops that were added and removed, in the graph's order; ops of one line and kind are one change."""
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
    """What differs in values that both graphs have; for each kind of change the first value is given."""
    found: dict[tuple[str, str, str], TensorChange] = {}
    symbols: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for was, now in _same_nodes(before, after, pieces):
        for old, new in zip(was.tensors, now.tensors, strict=False):
            if old == new and not any(isinstance(size, str) for size in old.shape):
                continue
            for what, trait in _TRAITS:
                before_text, after_text = trait(old), trait(new)
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
    """The first node that has other arguments; None where there is none."""
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
    """The first change of each trait, for all values: one changed size changes many shapes."""
    for what, _ in _TRAITS:
        changes = [change for change in found.values() if change.what == what]
        if changes:
            yield replace(changes[0], values=sum(change.values for change in changes))


def _same_nodes(before: Sequence[Node], after: Sequence[Node], pieces: Pieces) -> Iterator[tuple[Node, Node]]:
    for i, j, k, m, is_same in pieces:
        if is_same:
            yield from zip(before[i:j], after[k:m], strict=True)


def _numbered(text: str, known: dict[str, str]) -> str:
    """The text with symbols of sizes numbered in their order, as their names depend on those of locals.

    The terms of a sum or product are sorted, since torch orders them by these names.
    """
    numbered = _SYMBOL.sub(lambda name: known.setdefault(name[0], f"?{len(known)}"), text)
    return numbered if numbered == text else " ".join(sorted(_TERM.findall(numbered)))


class CompiledCode:
    """The kernels that Inductor generated for each graph of a recording, and what forward graphs save."""

    def __init__(self, recording: Recording) -> None:
        self.lines = SourceLines(recording)
        self._kernels: dict[tuple[str, CompileId | None], Counter[str]] = {}
        for process in recording.processes:
            for code in process.kernels:
                counted = self._kernels.setdefault((process.stream.name, code.compile_id), Counter())
                for name, calls in code.calls.items():
                    counted[_NUMBER.sub("", name)] += max(calls, 1)

    def kernels(self, compared: ComparedGraph) -> Counter[str] | None:
        """Calls of kernels, forward and backward, by the name without its number; None if not recorded."""
        return self._kernels.get((compared.process.stream.name, compared.graph.compile_id))

    def saved(self, compared: ComparedGraph) -> Saved | None:
        """What the forward saves; None where it is not recorded or there is no backward."""
        pairs = pairs_of(compared.graph, compared.process)
        return saved_by(pairs) if pairs else None


Codes = tuple[CompiledCode, CompiledCode]


def kernel_change(was: ComparedGraph, now: ComparedGraph, codes: Codes) -> KernelChange | None:
    """The change in kernels that the graph runs; None where there is none, or it is not known."""
    before, after = codes[0].kernels(was), codes[1].kernels(now)
    if before is None or after is None or before == after:
        return None
    return KernelChange(
        before.total(), after.total(), tuple((before - after).elements()), tuple((after - before).elements())
    )


def saved_change(was: ComparedGraph, now: ComparedGraph, codes: Codes) -> SavedChange | None:
    """The change in what the forward saves; None where there is none, or it is not known."""
    before, after = codes[0].saved(was), codes[1].saved(now)
    if before is None or after is None or before.bytes is None or after.bytes is None:
        return None
    if before.bytes == after.bytes:
        return None
    was_made, is_made = (list(map(_made_by, side.tensors)) for side in (before, after))
    added = surplus(after.tensors, was_made, _made_by)
    removed = surplus(before.tensors, is_made, _made_by)
    tensors = (*_changes(added, 1, codes[1].lines), *_changes(removed, -1, codes[0].lines))
    return SavedChange(before.bytes, after.bytes, tensors)


def _made_by(tensor: SavedTensor) -> str:
    """The node that made the saved memory: a view or a detached tensor shares it."""
    return INPUT if tensor.kind == INPUT else _NUMBER.sub("", tensor.storage)


def _changes(tensors: Sequence[SavedTensor], sign: int, lines: SourceLines) -> Iterator[OpChange]:
    for (op, place), count in Counter((_made_by(each), each.place) for each in tensors).items():
        yield OpChange(op, sign * count, place, lines.at(place))

"""What differs between two graphs that belong together: ops, and the tensors of what both have."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from ..model import Node, Place, Recording, TensorInfo
from ..shared.graph_key import canonical_lines
from .difference import ArgumentChange, OpChange, TensorChange
from .graph_pairs import op_of

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

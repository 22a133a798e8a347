"""The phases of a compile as a tree to be read: those of one name together, the small ones summed."""

from collections.abc import Iterator, Sequence

from ...shared.quick_dataclass import dataclass
from .phases import Span

_SMALL_SHARE = 0.02  # of the compile
_SMALL_NS = 1_000_000


@dataclass(frozen=True)
class Node:
    """Phases of one name that the same phase holds. `own_ns` is the part that no phase in them has.

    A node without a name sums the small ones, `count` of them.
    """

    name: str | None
    category: str | None
    count: int
    total_ns: int
    own_ns: int
    children: tuple["Node", ...]

    def walk(self, depth: int = 0) -> Iterator[tuple[int, "Node"]]:
        """It and what it holds, with how deep each lies."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


def phase_tree(trees: Sequence[Span], *, show_all: bool) -> list[Node]:
    """What a compile's phases come to, the costliest first; small ones are summed unless all are shown."""
    whole = sum(tree.total_ns for tree in trees)
    return _nodes(trees, 0 if show_all else max(_SMALL_NS, int(whole * _SMALL_SHARE)))


def _nodes(siblings: Sequence[Span], smallest_ns: int) -> list[Node]:
    by_name: dict[str, list[Span]] = {}
    for span in siblings:
        by_name.setdefault(span.phase.name, []).append(span)
    nodes = sorted((_node(same, smallest_ns) for same in by_name.values()), key=lambda node: -node.total_ns)
    small = [node for node in nodes if node.total_ns < smallest_ns]
    if len(small) < 2:
        return nodes
    rest = Node(
        name=None,
        category=None,
        count=sum(node.count for node in small),
        total_ns=sum(node.total_ns for node in small),
        own_ns=sum(each.own_ns for node in small for _, each in node.walk()),
        children=(),
    )
    return [*nodes[: len(nodes) - len(small)], rest]


def _node(same: Sequence[Span], smallest_ns: int) -> Node:
    return Node(
        name=same[0].phase.name,
        category=same[0].kind.category,
        count=len(same),
        total_ns=sum(span.total_ns for span in same),
        own_ns=sum(span.own_ns for span in same),
        children=tuple(_nodes([child for span in same for child in span.children], smallest_ns)),
    )

"""What a page leaves out where it would get too large to send: in a fixed order, and told on the page."""

from collections.abc import Iterable, Sequence

from dynamo_core.shared.quick_dataclass import dataclass

# What is left out first stands first; what is not here is never left out. The command shows it in a terminal.
ORDER = {
    "output code": "graphs --stage output-code,runnable",
    "texts of graphs at their stages": "graphs --stage all",
    "guards by cache entry": "guards",
    "bytecode": "bytecode --diff",
    "source of libraries": "bytecode --source",
    "nodes of graphs": "graphs",
}
_OVERHEAD = 80  # bytes of markup around a part


@dataclass(frozen=True)
class Part:
    """What is shown at a route, packed, and which kind of it may be left out."""

    route: str
    data: bytes
    kind: str = ""

    @property
    def size(self) -> int:
        """Its bytes in the file."""
        return len(self.data) + len(self.route) + _OVERHEAD


@dataclass(frozen=True)
class LeftOut:
    """Parts that do not fit: of which kind, how many, how large, and the command that shows them."""

    kind: str
    count: int
    size: int
    command: str


def within_bounds(parts: Iterable[Part], largest: int) -> tuple[list[Part], list[LeftOut]]:
    """The parts that fit, in their order, and what was left out: whole kinds, until the others fit."""
    kept = list(parts)
    left_out: list[LeftOut] = []
    for kind, command in ORDER.items():
        if sum(part.size for part in kept) <= largest:
            break
        of_kind = [part for part in kept if part.kind == kind]
        if of_kind:
            left_out.append(LeftOut(kind, len(of_kind), sum(part.size for part in of_kind), command))
            kept = [part for part in kept if part.kind != kind]
    return kept, left_out


def sentence(left_out: Sequence[LeftOut]) -> str:
    """What is said above what was left out."""
    size = sum(each.size for each in left_out) / 1e6
    return f"{size:,.1f} MB did not fit into the page; in a terminal:"

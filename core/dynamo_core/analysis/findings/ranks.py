"""Finding: the ranks of a distributed run were not given the same graphs, which makes collectives hang."""

from collections.abc import Iterator

from ..figures import Figures
from ..ranks.differences import collective_difference
from ..ranks.members import named, ranks_of
from ..ranks.steps import Side
from ..words import place
from .draft import Draft
from .remedy import remedy

_MAKE_ALIKE = (
    "what the program branches on before those lines (a flag, a size, the rank itself) has to be the same on "
    "all ranks; `dynamo ranks` shows the lines."
)


def ranks_differ(figures: Figures) -> Iterator[Draft]:
    """The first collective that the ranks do not all call: those behind it follow from it."""
    ranks = ranks_of(figures.recording)
    difference = collective_difference(ranks) if len(ranks) > 1 else None
    if difference is None:
        return
    sides = difference.sides
    side = next(side for side in sides if side.graph is not None)
    graph = ranks[side.ranks[0]].graphs[(side.graph or 1) - 1]
    yield Draft(
        "ranks differ",
        key=("collectives",),
        title=f"{difference.title}: {'; '.join(map(_side, sides))}",
        cause="a collective ends when every rank of its group has called it: in another order, they wait for "
        "each other for good",
        processes=tuple(ranks.values()),
        place=side.place,
        function=graph.frame_name,
        remedies=remedy("ranks differ", _MAKE_ALIKE),
    )


def _side(side: Side) -> str:
    where = "" if side.place is None else f" at {place(side.place)}"
    return f"{named(side.ranks)}: {side.what}{where}"

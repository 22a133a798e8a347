"""Find regions of a sequence that repeat, as the layers of a network do, so that each is shown once."""

from collections.abc import Hashable, Iterator, Sequence

from ...model import Node
from ...shared.quick_dataclass import dataclass

_LONGEST_PERIOD = 300  # nodes; a layer is far smaller, and the search takes time for each


@dataclass(frozen=True)
class Repeat:
    """The `period` items from `start` on stand there `times` times in a row; `parts` are the first ones."""

    start: int
    period: int
    times: int
    parts: "tuple[int | Repeat, ...]"

    @property
    def end(self) -> int:
        """The first item after all of it."""
        return self.start + self.period * self.times


Part = int | Repeat


def folded(tokens: Sequence[Hashable], least_saved: int = 6) -> tuple[Part, ...]:
    """The positions of `tokens` in order, with repeated regions as one `Repeat`.

    The regions that save most items go first, then what is left between them and inside. One that saves
    fewer than `least_saved` is left as it is.
    """
    numbers: dict[Hashable, int] = {}
    return _folded([numbers.setdefault(token, len(numbers)) for token in tokens], 0, len(tokens), least_saved)


def layer_token(node: Node) -> tuple[object, ...]:
    """What two nodes have in common that do the same at the same line, in different layers."""
    return (node.op, node.target, node.place)


def _folded(tokens: Sequence[int], start: int, end: int, least_saved: int) -> tuple[Part, ...]:
    is_taken = bytearray(end - start)
    chosen: list[tuple[int, int, int]] = []
    for first, period, times in sorted(_repeats(tokens, start, end, least_saved), key=_most_saved_first):
        region = slice(first - start, first - start + period * times)
        if not any(is_taken[region]):
            is_taken[region] = b"\1" * (period * times)
            chosen.append((first, period, times))
    if not chosen:
        return tuple(range(start, end))
    parts: list[Part] = []
    at = start
    for first, period, times in sorted(chosen):
        inside = _folded(tokens, first, first + period, least_saved)
        parts += [*_folded(tokens, at, first, least_saved), Repeat(first, period, times, inside)]
        at = first + period * times
    return (*parts, *_folded(tokens, at, end, least_saved))


def _most_saved_first(repeat: tuple[int, int, int]) -> tuple[int, int, int]:
    """Of several that save as much, what repeats in the fewest items, then the first."""
    first, period, times = repeat
    return (-(times - 1) * period, period, first)


def _repeats(tokens: Sequence[int], start: int, end: int, least_saved: int) -> Iterator[tuple[int, int, int]]:
    """Start, period and number of times of every region that repeats as often as it can."""
    for period in range(1, min((end - start) // 2, _LONGEST_PERIOD) + 1):
        equal = 0  # how many items up to here equal the one a period on
        for position in range(start, end - period + 1):
            if position < end - period and tokens[position] == tokens[position + period]:
                equal += 1
                continue
            times = equal // period + 1
            if times > 1 and (times - 1) * period >= least_saved:
                yield position - equal, period, times
            equal = 0

"""Something drawn further to the right, with nothing behind the end of its lines: no blanks to copy."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment


class Indented:
    """Not rich's Padding, which fills every line up to the length of the longest."""

    def __init__(self, drawn: RenderableType, by: int) -> None:
        self._drawn = drawn
        self._by = by

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.update(width=max(1, options.max_width - self._by), height=None)
        for line in console.render_lines(self._drawn, room, pad=False):
            shown = list(_without_blanks_at_the_end(line))
            if shown and self._by:
                yield Segment(" " * self._by)
            yield from shown
            yield Segment.line()


def _without_blanks_at_the_end(line: Sequence[Segment]) -> Iterator[Segment]:
    end = len(line)
    while end and line[end - 1].control is None and not line[end - 1].text.strip(" "):
        end -= 1
    for at, segment in enumerate(line[:end]):
        is_last = at == end - 1 and segment.control is None
        yield segment._replace(text=segment.text.rstrip(" ")) if is_last else segment

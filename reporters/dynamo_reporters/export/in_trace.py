"""`dynamo export` of a trace that torch wrote: the page."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.words import number
from dynamo_core.exports.in_trace import ExportInTrace

from ..page.blocks import Block, Code, Heading, Paragraph
from .obstacles import obstacle_blocks

_LINES_SHOWN = 60


def traced_blocks(exports: Sequence[ExportInTrace]) -> Iterator[Block]:
    """The page as blocks."""
    done = sum(each.program is not None for each in exports)
    yield Heading(f"{number(len(exports), 'call')} of torch.export, {done} of which gave a program", 1)
    yield Paragraph(
        "Read from a trace of torch's own, which says neither which module was exported, nor how. `dynamo "
        "export PROGRAM` tries its modules in every way.",
        "dim",
    )
    streams = {each.stream for each in exports}
    for place, each in enumerate(exports, start=1):
        where = f" in {each.stream}" if len(streams) > 1 else ""
        yield Heading(f"Export {place}{where}: {_outcome(each)}")
        met = [(obstacle, "which it went past") for obstacle in each.obstacles]
        if met and each.program is None:
            met = [(met.pop()[0], "the last that it ran into"), *met]
        yield from obstacle_blocks(met)
        if each.program is not None:
            lines = each.program.rstrip().splitlines()
            yield Code("\n".join(lines[:_LINES_SHOWN]))
            if len(lines) > _LINES_SHOWN:
                rest = number(len(lines) - _LINES_SHOWN, "more line")
                yield Paragraph(f"… and {rest}; --format json has all", "dim")


def _outcome(export: ExportInTrace) -> str:
    if export.program is None:
        return "it gave no program"
    met = len(export.obstacles)
    return "exported" if not met else f"exported, past {number(met, 'obstacle')}"

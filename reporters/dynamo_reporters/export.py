"""`dynamo export`: the page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from dynamo_core.analysis.words import alternatives, number, place
from dynamo_core.exports.modules import ExportInTrace, Exports, ModuleExport, agreement, specialized_arguments
from dynamo_core.exports.obstacles import Obstacle
from dynamo_core.model import AGREES
from dynamo_core.shared.declared import INLINE
from dynamo_core.shared.names import AOTI, COMPILE, DONE, DRAFT, EXPORT, STRICT
from dynamo_core.shared.quick_dataclass import dataclass

from .page.blocks import Block, Code, Heading, Paragraph, rest, table
from .report import Report

# What is in the way of an export: the line, the cause, what to do, and torch's words.


_SHOWN = 6


def obstacle_blocks(obstacles: Sequence[tuple[Obstacle, str]]) -> Iterator[Block]:
    """The first of them, each with what it is to the export, in words that follow its line."""
    for obstacle, what in obstacles[:_SHOWN]:
        yield from _obstacle(obstacle, what)
    yield from rest(len(obstacles) - _SHOWN, "obstacle", "; --format json has all")


def _obstacle(obstacle: Obstacle, what: str) -> Iterator[Block]:
    unknown = "A file that the trace does not name" if obstacle.source else "No line is known"
    where = place(obstacle.place) if obstacle.place is not None else unknown
    yield Heading(f"{where}, {what}", 3)
    lines = [obstacle.source, obstacle.cause]
    if obstacle.via is not None:
        lines.append(f"in the library at {place(obstacle.via.place)}: {obstacle.via.text}")
    yield Paragraph("\n".join(filter(None, lines)))
    for text in alternatives(obstacle.remedies):
        yield Paragraph(f"→ {text}", "advice")
    if obstacle.words:
        yield Paragraph(f"torch: {obstacle.words}", "dim")


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
    for nth, each in enumerate(exports, start=1):
        where = f" in {each.stream}" if len(streams) > 1 else ""
        yield Heading(f"Export {nth}{where}: {_outcome_in_trace(each)}")
        met = [(obstacle, "which it went past") for obstacle in each.obstacles]
        if met and each.program is None:
            met = [(met.pop()[0], "the last that it ran into"), *met]
        yield from obstacle_blocks(met)
        if each.program is not None:
            lines = each.program.rstrip().splitlines()
            yield Code("\n".join(lines[:_LINES_SHOWN]))
            yield from rest(len(lines) - _LINES_SHOWN, "line", "; --format json has all")


def _outcome_in_trace(export: ExportInTrace) -> str:
    if export.program is None:
        return "it gave no program"
    met = len(export.obstacles)
    return "exported" if not met else f"exported, past {number(met, 'obstacle')}"


_SIZES_SHOWN = 4
_LONGEST_CELL = 60  # characters
_WAYS = {
    EXPORT: "torch.export.export",
    STRICT: "strict=True",
    DRAFT: "draft_export",
    COMPILE: "torch.compile",
    AOTI: "AOTInductor",
}


def report(recording: Path) -> Report[Exports]:
    """The report of `dynamo export` on this recording."""
    return Report("export", export_blocks, lambda exports: ExportDocument(str(recording), exports))


def export_blocks(exports: Exports) -> Iterator[Block]:
    """The page as blocks."""
    if exports.traced:
        yield from traced_blocks(exports.traced)
        return
    yield Heading(_verdict(exports), 1)
    if exports.modules:
        yield table(
            "module|calls>|torch.export|strict|beside eager|first obstacle", list(map(_row, exports.modules))
        )
        yield Paragraph(
            "Each was tried as it was when it was called, with the weights, the mode and the inputs of that "
            "call, in a copy of the process. torch.compile was off. A module in training mode is exported as "
            "it trains: call its eval() first to export it for inference.",
            "dim",
        )
    yield from _left_out(exports)
    for module in exports.modules:
        yield from _module(module)


def _verdict(exports: Exports) -> str:
    modules = exports.modules
    if not modules and exports.left_out is None:
        return "No trial is recorded: the program was ended before it called a torch.nn.Module."
    if not modules and not exports.left_out:
        return "No torch.nn.Module was called: there is nothing to export."
    counted = Counter(module.verdict for module in modules)
    parts = [f"{verdict}: {count}" for verdict, count in counted.items()]
    if exports.left_out:
        parts.append(f"not tried: {exports.left_out}")
    return f"{number(len(modules) + (exports.left_out or 0), 'module')}: {', '.join(parts)}"


def _row(module: ModuleExport) -> list[str]:
    first = module.obstacles[0] if module.obstacles else None
    return [
        module.name,
        str(module.calls),
        _outcome(module, EXPORT),
        _outcome(module, STRICT),
        agreement(module),
        "" if first is None else place(first.place) if first.place else _cut(first.cause),
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1].rstrip() + "…"


def _outcome(module: ModuleExport, kind: str) -> str:
    """The outcome with the sizes that varied dynamic; where that fails, without."""
    tried = [way for way in module.ways if way.kind == kind]
    done = next((way for way in tried if way.outcome == DONE), None)
    if done is None:
        return tried[0].outcome if tried else "not tried"
    is_less = module.dynamic_shapes is not None and done.shapes == "fixed"
    return "fixed sizes only" if is_less else "exports"


def _left_out(exports: Exports) -> Iterator[Block]:
    if exports.problem is not None:
        yield Paragraph(f"Some calls could not be looked at: {exports.problem}", "warning")
    if exports.left_out is None and exports.modules:
        yield Paragraph(
            "Whether more modules were called is not recorded: the program was killed, or left by os._exit.",
            "warning",
        )
    if exports.left_out:
        why = exports.why_left_out or "more than --most-modules are called"
        yield Paragraph(f"Not tried: {number(exports.left_out, 'module')}, since {why}.", "warning")


def _module(module: ModuleExport) -> Iterator[Block]:
    yield Heading(f"{module.name}: {module.verdict}")
    yield Paragraph(_calls(module))
    if module.inputs:
        rows = [[each.name, each.dtype, _sizes(each.sizes)] for each in module.inputs]
        rows += [[each.name, "constant", ", ".join(each.values[:_SIZES_SHOWN])] for each in module.constants]
        yield table("input|type|seen", rows)
    for each in specialized_arguments(module.constants):
        yield Paragraph(
            f"{each.name} had {number(len(each.values), 'value')}: the exported program is for "
            f"{each.values[0]} alone.",
            "warning",
        )
    if module.code is not None:
        yield Paragraph("It was exported by:", "dim")
        yield Code(module.code)
    yield from _comparisons(module)
    if module.not_saved is not None:
        yield Paragraph(f"It cannot be saved to a file: {module.not_saved}", "warning")
    yield from obstacle_blocks([(each, _in_the_way(each)) for each in module.obstacles])


def _calls(module: ModuleExport) -> str:
    mode = "in training mode" if module.training else "in eval mode"
    text = f"{number(module.calls, 'call')}, {module.parameters:,} parameters, {mode}"
    if module.called_at is not None:
        text += f", called at {place(module.called_at.place)}: {module.called_at.text}"
    if module.other_forms:
        text += f"\n{number(module.other_forms, 'call')} with other arguments, which were not tried"
    return text


def _sizes(sizes: Sequence[tuple[int, ...]]) -> str:
    shown = ", ".join(str(list(each)) for each in sizes[:_SIZES_SHOWN])
    return shown if len(sizes) <= _SIZES_SHOWN else f"{shown}, … ({len(sizes)} in all)"


def _in_the_way(obstacle: Obstacle) -> str:
    """What cannot go on there; what only a trial that goes on behind the first obstacle met comes later."""
    stopped = [_WAYS[way] for way in obstacle.met_by if way in (EXPORT, STRICT, AOTI)]
    if stopped:
        return f"in the way of {' and '.join(stopped)}"
    return f"met next by {' and '.join(_WAYS[way] for way in obstacle.met_by)}"


def _comparisons(module: ModuleExport) -> Iterator[Block]:
    for each in module.compared:
        if each.outcome != AGREES:
            worst = each.worst
            why = each.why or (worst and (worst.detail or f"{worst.name} is off by {worst.error:.3g}"))
            yield Paragraph(f"{_WAYS[each.by]}, with {each.sizes}: {each.outcome}: {why}", "warning")
    agreeing = [each for each in module.compared if each.outcome == AGREES]
    if agreeing:
        values = sum(each.compared for each in agreeing)
        runs = number(len(agreeing), "run")
        yield Paragraph(f"Agrees with eager in {runs}, {number(values, 'value')} compared.", "dim")


@dataclass(frozen=True)
class ExportDocument:
    """The modules that a program called, in the order of their first calls, and what exporting them gave.

    `left_out` modules were not tried, and `why_left_out` says why; null where that was not recorded.
    `problem` is an error of dynamo's own, for which calls were not looked at. Of a trace that torch wrote
    there are no modules: `traced` has its calls of torch.export.
    """

    recording: str
    exports: Exports = field(metadata=INLINE)

"""Recurrent layers that get packed sequences from a function that is called, where that one breaks as well.

A setting has torch trace the layer, and then the packing breaks in its place: one advice is for both.
"""

import re
from collections.abc import Iterable, Iterator

from ..analysis.figures import AT_A_RECURRENT_LAYER, Figures
from ..analysis.recompile_echoes import CompileKey, compile_key
from ..analysis.source_lines import targets_of
from ..model import GraphBreak, Process, StackFrame, function_of
from ..remedies.break_rules import works_on_packed_sequences
from ..remedies.rules import user_line

_Function = tuple[str, str, int]


def packing_for(figures: Figures, process: Process, stopped: GraphBreak) -> GraphBreak | None:
    """The break where sequences are packed for the recurrent layer that torch stops at; else None."""
    if not _is_at_a_layer(stopped):
        return None
    return next((each for each in _packing(figures, process) if _is_for(process, each, stopped)), None)


def layers_behind(
    figures: Figures, processes: Iterable[Process], packing: GraphBreak
) -> Iterator[CompileKey]:
    """The compiles that torch stops at a recurrent layer, which gets what is packed at this break."""
    streams = {each.stream for each in processes}
    layers = [each for each in figures.at_recurrent_layers if each[0].stream in streams]
    if layers and _packs(packing):  # which goes through the rules for breaks
        for process, stopped in layers:
            if _is_for(process, packing, stopped):
                yield compile_key(process.stream, stopped.compile_id)


def _stops(figures: Figures, process: Process) -> Iterator[GraphBreak]:
    yield from process.breaks
    yield from (each.stopped for each in figures.fallbacks if each.process is process)


def _packing(figures: Figures, process: Process) -> Iterator[GraphBreak]:
    return filter(_packs, _stops(figures, process))


def _is_at_a_layer(stopped: GraphBreak) -> bool:
    return AT_A_RECURRENT_LAYER in stopped.kind


def _packs(stopped: GraphBreak) -> bool:
    return not _is_at_a_layer(stopped) and works_on_packed_sequences(stopped)


def _is_for(process: Process, packing: GraphBreak, layer: GraphBreak) -> bool:
    """Whether the layer's function calls the one that packs, or gives what it packs to that of the layer."""
    (packs, _), (runs, _) = user_line(packing), user_line(layer)
    if packs is None or runs is None:
        return False
    if _function(process, runs) in {_function(process, each) for each in (*packing.callers, *packing.stack)}:
        return True
    packed = {*targets_of(packs.text.strip())}
    return any(
        _function(process, each) == _function(process, packs) and packed & {*re.findall(r"\w+", each.text)}
        for each in (*layer.callers, *layer.stack)
    )


def _function(process: Process, frame: StackFrame) -> _Function:
    """The function of a frame: its file, its name, and the line where the last of that name begins."""
    file, name = frame.place.file, function_of(frame.function)
    begins = (
        each.place.line
        for each in process.frames
        if each.place is not None and each.place.file == file and each.name == name
    )
    return file, name, max((line for line in begins if line <= frame.place.line), default=0)

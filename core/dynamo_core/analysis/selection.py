"""Selects the requested part of a recording: a frame, a compile, a graph, a file, a rank, a restart."""

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from ..model import CompileId, Place, Process, Recording, resumed_function
from ..shared.errors import NothingSelected
from ..shared.quick_dataclass import dataclass

# The attributes of a process that are lists whose items belong to a compile.
_LISTS = (
    "frames",
    "graphs",
    "breaks",
    "compiles",
    "recompile_reasons",
    "symbols",
    "stages",
    "pairs",
    "cuda_graphs",
    "phases",
    "parallel_phases",
    "tracing",
    "guard_sets",
    "recompiled_entries",
    "specializations",
    "bytecodes",
)


@dataclass(frozen=True)
class Selection:
    """The part of a recording to keep; None keeps everything.

    frame      a function's name, or a pattern with * and ?; its resume functions belong to it
    compile_id `0/1`, or `0` for every compile of frame 0
    graph      the number of a graph, from 1 in each process
    file       a pattern for the path of the frame's file, or the end of it
    rank       of a distributed run
    restart    how often the job had been restarted
    """

    frame: str | None = None
    compile_id: str | None = None
    graph: int | None = None
    file: str | None = None
    rank: int | None = None
    restart: int | None = None


def select(recording: Recording, wanted: Selection) -> Recording:
    """The part of the recording that matches everything in `wanted`.

    Raises NothingSelected, which lists what there is to choose from.
    """
    if wanted == Selection():
        return recording
    processes = recording.processes
    if wanted.rank is not None:
        processes = [process for process in processes if process.rank == wanted.rank]
        if not processes:
            raise NothingSelected(f"no rank {wanted.rank} in {recording.path}; {_ranks(recording)}")
    if wanted.restart is not None:
        processes = [process for process in processes if _restart(process) == wanted.restart]
        if not processes:
            raise NothingSelected(f"no restart {wanted.restart} in {recording.path}; {_restarts(recording)}")
    if wanted == Selection(rank=wanted.rank, restart=wanted.restart):
        return replace(recording, processes=processes, whole=recording.entire)
    kept = [part for process in processes if (part := _part_of(process, wanted)) is not None]
    if not kept:
        raise NothingSelected(_nothing_selected(processes, wanted))
    return replace(recording, processes=kept, whole=recording.entire)


def parts_to_select(recording: Recording, selected: Selection) -> list[str]:
    """The options that would pick out less than what is selected: those not given of which there are several.

    Each with its first value and how many there are: `--compile-id 0/0 (one of 24)`.
    """
    frames = [each for process in recording.processes for each in _frames(process)]
    values: dict[str, list[Any]] = {
        "--compile-id": [compile_id for compile_id, _, _, _ in frames] if selected.compile_id is None else [],
        "--frame": [_function(name) for _, name, _, _ in frames] if selected.frame is None else [],
        "--rank": [process.rank for process in recording.processes] if selected.rank is None else [],
    }
    distinct = {
        option: list(dict.fromkeys(each for each in found if each is not None))
        for option, found in values.items()
    }
    return [f"{option} {of[0]} (one of {len(of)})" for option, of in distinct.items() if len(of) > 1]


def _part_of(process: Process, wanted: Selection) -> Process | None:
    graphs = [
        graph
        for graph in process.graphs
        if (wanted.graph is None or graph.number == wanted.graph)
        and _matches(graph.compile_id, graph.frame_name, graph.method, graph.frame_place, wanted)
    ]
    if wanted.graph is not None:
        ids = {graph.compile_id for graph in graphs}
    else:
        ids = {
            compile_id
            for compile_id, name, method, place in _frames(process)
            if _matches(compile_id, name, method, place, wanted)
        }
    frames = [
        frame
        for frame in process.frames
        if _matches(frame.compile_id, frame.name, frame.method, frame.place, wanted)
    ]
    not_compiled = [
        frame
        for frame in process.interventions.not_compiled
        if _matches(None, frame.name, frame.method, frame.place, wanted)
    ]
    ids.discard(None)
    if not ids and not graphs and (wanted.graph is not None or not (frames or not_compiled)):
        return None
    lookups = [lookup for lookup in process.caching.lookups if lookup.compile_id in ids]
    part = replace(
        process,
        whole=process,
        caching=replace(process.caching, lookups=lookups),
        interventions=replace(
            process.interventions, not_compiled=not_compiled if wanted.graph is None else []
        ),
    )
    for name in _LISTS:
        setattr(part, name, [item for item in getattr(process, name) if item.compile_id in ids])
    if wanted.graph is None:
        part.frames = frames
    part.graphs = graphs
    return part


def _frames(process: Process) -> Iterable[tuple[CompileId | None, str | None, str | None, Place | None]]:
    """The id, function, method and place of every recorded compile, and of frames that were not compiled."""
    for graph in process.graphs:
        yield graph.compile_id, graph.frame_name, graph.method, graph.frame_place
    for items in (process.frames, process.compiles, process.bytecodes):
        for item in items:
            yield item.compile_id, item.name, item.method, item.place
    for frame in process.interventions.not_compiled:
        yield None, frame.name, frame.method, frame.place


def _matches(
    compile_id: CompileId | None,
    name: str | None,
    method: str | None,
    place: Place | None,
    wanted: Selection,
) -> bool:
    return (
        (wanted.frame is None or _is_frame(name, wanted.frame) or _is_frame(method, wanted.frame))
        and (wanted.compile_id is None or _is_compile(compile_id, wanted.compile_id))
        and (wanted.file is None or _is_file(place, wanted.file))
    )


def _function(name: str | None) -> str | None:
    """The function whose frame it is, also of its resume functions."""
    resumed = None if name is None else resumed_function(name)
    return name if resumed is None else resumed[0]


def _is_frame(name: str | None, wanted: str) -> bool:
    if name is None:
        return False
    resumed = resumed_function(name)
    return fnmatchcase(name, wanted) or (resumed is not None and fnmatchcase(resumed[0], wanted))


def _is_compile(compile_id: CompileId | None, wanted: str) -> bool:
    if compile_id is None:
        return False
    wanted = wanted.strip("[]")
    return str(compile_id) == wanted or ("/" not in wanted and str(compile_id.frame) == wanted)


def _is_file(place: Place | None, wanted: str) -> bool:
    if place is None:
        return False
    return fnmatchcase(place.file, wanted) or fnmatchcase(place.file, "*/" + wanted.removeprefix("./"))


def _ranks(recording: Recording) -> str:
    ranks = sorted({process.rank for process in recording.processes if process.rank is not None})
    return f"it has {', '.join(map(str, ranks))}" if ranks else "no rank is recorded in it"


def _restart(process: Process) -> int | None:
    return process.info.attempt[-1] if process.info.attempt and process.rank is not None else None


def _restarts(recording: Recording) -> str:
    found = sorted({each for process in recording.processes if (each := _restart(process)) is not None})
    return f"it has {', '.join(map(str, found))}" if found else "no rank is recorded in it"


def _nothing_selected(processes: list[Process], wanted: Selection) -> str:
    options = {
        "--frame": wanted.frame,
        "--compile-id": wanted.compile_id,
        "--graph": wanted.graph,
        "--file": wanted.file,
    }
    given = " ".join(f"{option} {value}" for option, value in options.items() if value is not None)
    if wanted.graph is not None:
        available = [str(graph.number) for process in processes for graph in process.graphs]
        what = "graphs"
    elif wanted.compile_id is not None:
        available = [str(i) for process in processes for i, *_ in _frames(process) if i is not None]
        what = "compiles"
    elif wanted.file is not None:
        available = [place.file for process in processes for *_, place in _frames(process) if place]
        what = "files"
    else:
        available = [name for process in processes for _, name, *_ in _frames(process) if name]
        what = "frames"
    distinct = list(dict.fromkeys(available))
    listed = ", ".join(distinct[:12]) + (f" and {len(distinct) - 12} more" if len(distinct) > 12 else "")
    return f"nothing in the recording fits {given}; " + (
        f"{what}: {listed}" if listed else f"it has no {what}"
    )

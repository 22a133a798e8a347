"""How the graphs of a process use CUDA graphs: how many were recorded, and why some were skipped."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated

from ...model import CompileId, CudaGraphNoted, Process, Recording, StackFrame
from ...shared.declared import Count, Seconds
from ...shared.quick_dataclass import dataclass
from ..words import first_line, number

_BEFORE_THE_REASON = re.compile(r"^(?:(?:skipping|disabling) cudagraphs? (?:due to |for )?)+")


@dataclass(frozen=True)
class CudaGraphSkip:
    """Why a graph, or a part of it, runs without CUDA graphs."""

    reason: Annotated[str, "torch's"]
    line: Annotated[StackFrame | None, "the line that torch names"]


@dataclass(frozen=True)
class CudaGraphUse:
    """What became of one graph that was to run as CUDA graphs, its backward included."""

    warmed_up: Annotated[Count, "parts of it that ran to warm up, each at each of its sizes"]
    recorded: Annotated[Count, "CUDA graphs that were recorded"]
    recording_seconds: Annotated[Seconds, "what recording them took"]
    sizes: Annotated[Count, "the sizes at which its part with most of them was called"]
    recorded_again: Annotated[Mapping[str, int], "why what had been recorded was recorded again, how often"]
    skipped: Annotated[tuple[CudaGraphSkip, ...], "each reason once"]

    @property
    def in_short(self) -> str:
        """What a table has of it."""
        recorded = f"{self.recorded} recorded" if self.recorded else ""
        skipped = "skipped" if self.skipped else ""
        return ", ".join(filter(None, (recorded, skipped))) or "warmed up"


def cuda_graphs_of(process: Process) -> dict[CompileId | None, CudaGraphUse]:
    """By compile, for graphs of which anything was recorded."""
    noted: dict[CompileId | None, list[CudaGraphNoted]] = {}
    for each in process.cuda_graphs:
        noted.setdefault(each.compile_id, []).append(each)
    return {compile_id: _use(events) for compile_id, events in noted.items()}


def skipped_words(recording: Recording) -> str | None:
    """How many graphs ran without CUDA graphs that were asked for, and why the first; None where none did."""
    uses = (use for process in recording.processes for use in cuda_graphs_of(process).values())
    skipped = [use.skipped[0].reason for use in uses if use.skipped]
    return f"{number(len(skipped), 'graph')} ({skipped[0]})" if skipped else None


def _use(events: Iterable[CudaGraphNoted]) -> CudaGraphUse:
    of = {
        what: [each for each in events if each.what == what] for what in ("warmed up", "recorded", "skipped")
    }
    called = (*of["warmed up"], *of["recorded"])
    sizes = Counter(part for part, _ in {(each.part, each.function) for each in called})
    replayed = {each.function for each in of["recorded"]}
    skips = (
        CudaGraphSkip(_reason(each.reason), each.line)
        for each in of["skipped"]
        if each.function is None or each.function not in replayed
    )
    return CudaGraphUse(
        warmed_up=len(of["warmed up"]),
        recorded=len(of["recorded"]),
        recording_seconds=sum(each.seconds or 0.0 for each in of["recorded"]),
        sizes=max(sizes.values(), default=0),
        recorded_again=dict(Counter(each.again for each in of["recorded"] if each.again is not None)),
        skipped=tuple(dict.fromkeys(skips)),
    )


def _reason(words: str | None) -> str:
    return _BEFORE_THE_REASON.sub("", first_line(words))

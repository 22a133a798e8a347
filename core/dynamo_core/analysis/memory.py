"""How much memory a run took at most, and how much more after a step than before it."""

from collections.abc import Iterable

from ..model import Process, StepMemory
from .words import memory


def peaks(processes: Iterable[Process]) -> dict[str, int]:
    """The highest peak of any process in bytes, for each kind of memory; empty where none was recorded."""
    found: dict[str, int] = {}
    for process in processes:
        peak = process.runtime.end.peak_memory if process.runtime.end else None
        for where, size in (peak or {}).items():
            if size > 0:
                found[where] = max(size, found.get(where, 0))
    return found


def peaks_text(found: dict[str, int]) -> str:
    """`385.3 MB resident, 2.0 GB cuda:0`."""
    return ", ".join(f"{memory(size)} {where}" for where, size in found.items())


def growth_text(step: Iterable[StepMemory]) -> str:
    """`at most 256 B cpu, 0 B cuda:0`; on the CPU torch does not see all that is freed."""
    return ", ".join(
        f"{'at most ' if each.device == 'cpu' else ''}{_signed(each.growth)} {each.device}" for each in step
    )


def _signed(size: int) -> str:
    return f"-{memory(-size)}" if size < 0 else memory(size)

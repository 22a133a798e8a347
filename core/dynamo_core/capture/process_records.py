"""The records about a process as a whole: its imports, its state, its timeline, its end."""

from types import ModuleType
from typing import TYPE_CHECKING

from ..shared.early_records import ModuleImported, ProcessEnded, TimelineKnown
from .import_hook import import_hook
from .primitives import time_ns
from .probe_guard import ProbeGuard
from .probes.optimizers import OptimizerNotes
from .probes.process import peak_memory, process_state, torch_totals, uncaught_exception
from .writing.stream import Stream

if TYPE_CHECKING:
    from .engine_parts import EngineParts


class ProcessRecords:
    """Writes the records that are written more than once, or that depend on a fork."""

    def __init__(self, stream: Stream, probes: ProbeGuard) -> None:
        self._stream = stream
        self._note_optimizers = probes.guarded("optimizers")(OptimizerNotes(stream).note)
        self._exception = probes.guarded("the exception that ended the program")(uncaught_exception)
        self._inherited_totals: dict[str, int] = {}  # what a forked child's parent had counted
        self.state = probes.guarded("devices and torch settings")(self._state)
        self.forked = probes.guarded("fork")(lambda: self._inherited_totals.update(torch_totals()))

    def _state(self) -> None:
        self._note_optimizers()
        self._stream.record(process_state())

    def end(self) -> None:
        """Write the last record of the process."""
        inherited = self._inherited_totals
        totals = {name: count - inherited.get(name, 0) for name, count in torch_totals().items()}
        self._stream.record(
            ProcessEnded(
                torch_totals=totals,
                ended_ns=time_ns(),
                peak_memory=peak_memory(),
                **(self._exception() or {}),
            )
        )
        self._stream.counters.allow_writing()

    def timeline(self, armed_ns: int | None) -> None:
        """Record when the process was armed, when torch was imported, and that the engine is ready now."""
        torch_began_ns, torch_ended_ns = import_hook.times.get("torch", (None, None))
        self._stream.record(
            TimelineKnown(
                armed_ns=armed_ns,
                torch_began_ns=torch_began_ns,
                torch_ended_ns=torch_ended_ns,
                ready_ns=time_ns(),
            )
        )


def record_import(module: ModuleType, parts: "EngineParts") -> None:
    """Record how long one of the compiler's modules took to import."""
    times = import_hook.times.get(module.__name__)
    if times is not None:  # None: it was imported before the import hook was there
        parts.stream.record(ModuleImported(module=module.__name__, began_ns=times[0], ended_ns=times[1]))

"""Probe: how long DistributedDataParallel exchanged gradients, as it timed that itself.

Source: torch/nn/parallel/distributed.py (DistributedDataParallel, whose `logger` is made with it), and
torch/csrc/distributed/c10d/reducer.cpp and logger.cpp: steps 1 to 10 and each hundredth are timed, by the
clock of a CPU or by events of a GPU. `logger._get_ddp_logging_data()` reads that, and waits for nothing.
Read in 2.13 and 2.15; run with 2.13 and 2.15, on a CPU.
"""

import weakref
from collections.abc import Callable
from os import getpid
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.early_records import GradientExchange

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_PROBE = "exchange of gradients"
_TIMED = {
    "forward_ns": "forward_compute_time",
    "backward_ns": "backward_compute_time",
    "exchange_ns": "backward_comm_time",
    "average_exchange_ns": "avg_backward_comm_time",
}


def install(distributed: ModuleType, parts: "EngineParts") -> None:
    """Note each module that is made, to ask it at its end."""
    exchanges = parts.gradient_exchanges = GradientExchanges()
    note = parts.probes.guarded(_PROBE)(exchanges.note)

    def init(proceed: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        result = proceed(module, *args, **named)
        note(module)
        return result

    parts.probes.hook(distributed.DistributedDataParallel, "__init__", _PROBE, init)


class GradientExchanges:
    """Asks each module when it is given up, or when the process ends.

    A module may be given up anywhere, also while a record is written: so they are written at the end alone.
    """

    def __init__(self) -> None:
        self._known: list[GradientExchange] = []
        self._modules: list[weakref.finalize[Any, Any]] = []
        self._process = getpid()

    def note(self, module: Any) -> None:
        """Have this module be asked."""
        asked = weakref.finalize(module, self._ask, module.logger, type(module.module).__qualname__)
        asked.atexit = False
        self._modules.append(asked)

    def _ask(self, logger: Any, module: str) -> None:
        try:
            timed = logger._get_ddp_logging_data().ints_map
            times = {name: timed[of_torch] for name, of_torch in _TIMED.items()}
            if min(times.values()) > 0:  # of what was not timed there is none, or a 0
                self._known.append(GradientExchange(module=module, step=timed["iteration"], **times))
        except Exception:  # nothing was timed
            pass

    def finish(self, write: Callable[[GradientExchange], None]) -> None:
        """Ask the modules that are left, and write what all have said; nothing in a forked child."""
        if getpid() == self._process:
            for asked in self._modules:
                asked()
            for each in self._known:
                write(each)

"""Where a program was measured, and with what."""

import platform
from collections.abc import Sequence

from ..model import Process
from ..shared.quick_dataclass import dataclass
from ..tuned.conditions import cpu_model


@dataclass(frozen=True)
class Machine:
    """The machine, and the program's Python and torch on it; None where they were not recorded.

    `devices` are those that the program used, in torch's words: `cpu: 8 cores, 4 threads`,
    `cuda:0: NVIDIA H100`.
    """

    host: str
    cpu: str
    devices: tuple[str, ...] = ()
    python: str | None = None
    torch: str | None = None

    @property
    def hardware(self) -> str:
        """All that two machines must share for a program's speed-ups there to be compared."""
        return ", ".join([self.cpu, *(device.removeprefix("cpu: ") for device in self.devices)])

    @property
    def gpus(self) -> tuple[str, ...]:
        """The names of the devices that are no CPU."""
        return tuple(each.partition(": ")[2] for each in self.devices if not each.startswith("cpu: "))


def machine_of(processes: Sequence[Process]) -> Machine:
    """This machine, with what was recorded here of a program's processes."""
    python = next((process.info.python for process in processes if process.info.python), None)
    torch = next((process.torch_version for process in processes if process.torch_version), None)
    devices = max((tuple(process.state.devices or ()) for process in processes), key=len, default=())
    return Machine(platform.node(), cpu_model(), devices, python, torch)

"""What a call of one graph takes with each backend."""

from collections.abc import Mapping
from dataclasses import field

from ..autotune.decision import decide
from ..model import Place
from ..shared.quick_dataclass import dataclass
from ..tuned.measurement import Measurement


@dataclass(frozen=True)
class GraphTimes:
    """A distinct graph of the first run: its number there, and what came of each backend, by its name.

    `problem` says why it could not be measured. `calls` is how often the program called it.
    """

    number: int
    frame: str | None
    place: Place | None
    ops: int | None
    calls: int | None
    problem: str | None = None
    measurements: Mapping[str, Measurement] = field(default_factory=dict)

    @property
    def fastest(self) -> str | None:
        """The backend that autotune would choose; None where the rounds do not decide."""
        winner = decide(list(self.measurements.values())).winner
        return next((name for name, each in self.measurements.items() if each.candidate == winner), None)

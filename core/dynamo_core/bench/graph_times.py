"""What a call of one graph takes with each backend."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..autotune.measurement import Measurement, winner
from ..model import Place


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
        """The fastest backend; None where it is not faster than those before it by more than the noise."""
        timed = {name: each for name, each in self.measurements.items() if each.seconds is not None}
        name = min(timed, key=lambda name: timed[name].seconds or 0.0, default=None)
        is_clear = name is not None and timed[name].candidate == winner(list(timed.values()))
        return name if is_clear else None

"""What torch's flight recorder has of a rank: the collectives that it called last, in graphs or not."""

from ..shared.quick_dataclass import dataclass
from .ids import Place


@dataclass(frozen=True)
class CalledCollective:
    """A call. `number` counts those in the group, on every rank alike; `value` is what it was given."""

    group: str
    number: int
    name: str
    value: str
    place: Place | None
    is_done: bool

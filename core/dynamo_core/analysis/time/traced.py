"""The functions that Dynamo spent its tracing on, all attempts of all compiles together."""

from ...model import Place, Process
from ...shared.names import TRACING_TIME
from ...shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Traced:
    """What tracing a function cost. `attempts` is in how many attempts of Dynamo it was traced."""

    name: str
    place: Place
    calls: int
    attempts: int
    exclusive_seconds: float
    inclusive_seconds: float


@dataclass(frozen=True)
class Tracing:
    """The functions, by their own time; what others were traced that have no name in the recording."""

    functions: list[Traced]
    other_calls: int
    other_seconds: float

    @property
    def seconds(self) -> float:
        """All of it: what functions took without those they call adds up."""
        return sum(function.exclusive_seconds for function in self.functions) + self.other_seconds


def tracing(process: Process) -> Tracing | None:
    """What a process spent on tracing; None where it was not recorded."""
    if not process.entire.record_counts.get(TRACING_TIME):
        return None
    named: dict[tuple[str, Place], Traced] = {}
    other_calls, other_seconds = 0, 0.0
    for each in process.tracing:
        if each.name is None or each.place is None:
            other_calls += each.calls
            other_seconds += each.exclusive_seconds
            continue
        before = named.get((each.name, each.place), Traced(each.name, each.place, 0, 0, 0.0, 0.0))
        named[each.name, each.place] = Traced(
            name=each.name,
            place=each.place,
            calls=before.calls + each.calls,
            attempts=before.attempts + 1,
            exclusive_seconds=before.exclusive_seconds + each.exclusive_seconds,
            inclusive_seconds=before.inclusive_seconds + (each.inclusive_seconds or 0.0),
        )
    functions = sorted(named.values(), key=lambda function: -function.exclusive_seconds)
    return Tracing(functions, other_calls, other_seconds)

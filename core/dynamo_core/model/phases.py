"""What compiling took its time for, as torch and Dynamo's tracer timed it."""

from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place


@dataclass(frozen=True)
class Phase:
    """A span that torch timed, and those in it. `name` is torch's, `function` what it says was called.

    Times are the clock's, in ns since the epoch. `end_ns` is None where no end was recorded: a kill, or an
    error in older torch. `cache_state` is what the look-up that it began with came to.
    """

    name: str
    begin_ns: int
    end_ns: int | None
    compile_id: CompileId | None
    function: str | None = None
    is_backward: bool | None = None
    cache_state: str | None = None
    children: "tuple[Phase, ...]" = ()

    @property
    def last_ns(self) -> int:
        """Its end, or the last that is known of it."""
        if self.end_ns is not None:
            return self.end_ns
        return max((child.last_ns for child in self.children), default=self.begin_ns)


@dataclass(frozen=True)
class TracedFunction:
    """What Dynamo spent in one attempt on tracing a function, with what it calls and without.

    A recursion's inclusive time counts once; a generator is called each time it is resumed. The costliest
    functions are named; the `functions` others of an attempt are one entry without a name.
    """

    compile_id: CompileId | None
    attempt: int
    name: str | None
    place: Place | None
    calls: int
    exclusive_seconds: float
    inclusive_seconds: float | None
    functions: int = 1

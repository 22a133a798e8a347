"""Compile time by phase, so that the phases add up to what the compiles took."""

from collections.abc import Sequence

from ...model import Compile, Recording
from ...shared.declared import Seconds
from ...shared.quick_dataclass import dataclass

# torch's cumulative times, each within the one before; the name is for what it holds beside the next.
_NESTED = (
    ("dynamo", "Dynamo: tracing, guards"),
    ("backend", "backend: AOTAutograd, caches"),
    ("inductor", "backend: Inductor, lowering and scheduling"),
    ("inductor_code_gen", "backend: Inductor, code generation and kernels"),
)


@dataclass(frozen=True)
class Phase:
    """A phase and the seconds that all compiles spent in it, without the phases inside."""

    name: str
    seconds: Seconds


@dataclass(frozen=True)
class AvoidableSeconds:
    """Of what compiling took: in recompiles, in analysis that began again, in compiles that failed."""

    recompiles: float
    restarted: float
    failed: float


def avoidable_seconds(recording: Recording) -> AvoidableSeconds:
    """Those of all processes; what was not recorded of a compile does not count."""
    compiles = [compile_ for process in recording.processes for compile_ in process.compiles]
    return AvoidableSeconds(
        recompiles=sum(c.seconds or 0.0 for p in recording.processes for c in p.recompiles),
        restarted=sum(c.seconds_before_restart or 0.0 for c in compiles),
        failed=sum(c.seconds or 0.0 for c in compiles if c.fail_type is not None),
    )


def phases_of(compiles: Sequence[Compile]) -> list[Phase]:
    """The phases that took any time, in order; backward graphs, which compile later, are one of their own."""
    forward = [compile_ for compile_ in compiles if compile_.is_forward]
    cumulative = [_cumulative(forward, name) for name, _ in _NESTED] + [0.0]
    found = [
        Phase(title, max(0.0, own - inner))
        for (_, title), own, inner in zip(_NESTED, cumulative, cumulative[1:], strict=False)
    ]
    found.append(Phase("backward graphs", sum(c.seconds or 0.0 for c in compiles if not c.is_forward)))
    return [phase for phase in found if phase.seconds > 0]


def _cumulative(compiles: Sequence[Compile], name: str) -> float:
    if name == "dynamo":
        return sum(compile_.seconds or 0.0 for compile_ in compiles)
    return sum(compile_.phases.get(name, 0.0) for compile_ in compiles)

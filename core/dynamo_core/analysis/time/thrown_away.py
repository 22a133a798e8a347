"""Compile time that came to nothing: attempts that began again, frames given up; and what recompiles cost."""

import re
from collections.abc import Iterable, Sequence

from ...model import Compile, CompileId, Frame, Place, Process
from ...shared.quick_dataclass import dataclass
from ..words import first_line
from .compiles import CompileCost

# Source: torch/_dynamo/convert_frame.py (compile_inner), 2.13; traces of older versions may lack it.
_ATTEMPT = re.compile(r"compile_attempt_(\d+)")


@dataclass(frozen=True)
class Loss:
    """Time that a compile lost, and why. `seconds` is None where it was not recorded."""

    compile_id: CompileId | None
    name: str | None
    place: Place | None
    seconds: float | None
    reason: str | None


@dataclass(frozen=True)
class ThrownAway:
    """What was lost. A frame that was given up has its restarts in its own time, and in no other list.

    Recompiles are not lost, but would not have been needed; their restarts are in both lists.
    """

    restarts: list[Loss]
    gave_up: list[Loss]
    recompiles: list[Loss]


def thrown_away(process: Process, costs: Sequence[CompileCost]) -> ThrownAway:
    """The losses of a process, the dearest first in each list."""
    forward = {cost.compile_id: cost for cost in costs if not cost.is_backward}
    gave_up = _gave_up(process, forward)
    lost = {loss.compile_id for loss in gave_up}
    restarts = [
        loss
        for compile_ in process.compiles
        if compile_.is_forward and compile_.compile_id not in lost and (loss := _restart(compile_, forward))
    ]
    again = {compile_.compile_id: compile_ for compile_ in process.recompiles}
    by_id: dict[CompileId | None, list[CompileCost]] = {}
    for cost in costs:
        by_id.setdefault(cost.compile_id, []).append(cost)
    recompiles = [
        _recompile(compile_, by_id.get(key, ())) for key, compile_ in again.items() if key not in lost
    ]
    return ThrownAway(*map(_dearest_first, (restarts, gave_up, recompiles)))


def seconds_of(losses: Iterable[Loss]) -> float | None:
    """What they cost together; None where there are none of which that is known."""
    known = [loss.seconds for loss in losses if loss.seconds is not None]
    return sum(known) if known else None


def _dearest_first(losses: Iterable[Loss]) -> list[Loss]:
    return sorted(losses, key=lambda loss: -(loss.seconds or 0.0))


def _restart(compile_: Compile, forward: dict[CompileId | None, CompileCost]) -> Loss | None:
    cost = forward.get(compile_.compile_id)
    attempts = {} if cost is None else _attempts(cost)
    timed = sum(seconds for number, seconds in attempts.items() if number < max(attempts))
    if not compile_.restart_reasons and not timed:
        return None
    seconds = timed or compile_.seconds_before_restart
    reason = "; ".join(map(first_line, compile_.restart_reasons)) or None
    return Loss(compile_.compile_id, compile_.name, compile_.place, seconds, reason)


def _attempts(cost: CompileCost) -> dict[int, float]:
    """The seconds of each attempt, by its number."""
    attempts: dict[int, float] = {}
    for span in (span for tree in cost.trees for span in tree.walk()):
        if found := _ATTEMPT.fullmatch(span.phase.name):
            attempts[int(found[1][:9])] = span.total_ns / 1e9
    return attempts


def _gave_up(process: Process, forward: dict[CompileId | None, CompileCost]) -> list[Loss]:
    """The frames that ran eager, or raised, after all; of a trace that is not ours, failed compiles."""
    by_id: dict[CompileId | None, Frame | Compile] = {
        compile_.compile_id: compile_
        for compile_ in process.compiles
        if compile_.is_forward and (compile_.fail_type or compile_.fail_reason)
    }
    by_id |= {
        frame.compile_id: frame
        for frame in process.frames
        if frame.outcome != "compiled" and frame.compile_id is not None
    }
    losses = []
    for compile_id, item in by_id.items():
        cost = forward.get(compile_id)
        reason = item.reason if isinstance(item, Frame) else item.fail_reason or item.fail_type
        told = first_line(reason) if reason else None
        losses.append(Loss(compile_id, item.name, item.place, cost.seconds if cost else None, told))
    return losses


def _recompile(compile_: Compile, costs: Sequence[CompileCost]) -> Loss:
    """All that was compiled again, the backward graph too; the costs are the compile's own."""
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    reason = first_line(compile_.recompile_reason)
    return Loss(compile_.compile_id, compile_.name, compile_.place, sum(known) if known else None, reason)

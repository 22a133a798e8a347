"""What a profile says should be done first: only what its own figures bear out."""

from dynamo_core.model import Process, Recording

from ..text import number, place, seconds
from .break_cost import break_costs
from .compiles import compile_costs
from .graph_times import graph_times
from .steps import find_steps
from .thrown_away import seconds_of, thrown_away
from .wall import COMPILING, GUARDS, REST, wall_time
from .window import coverage

_MUCH = 0.1  # of the time that it is compared with


def advice(recording: Recording, step: str | None = None) -> list[str]:
    """At most one sentence on each subject, in the order of a run."""
    found = [text for process in recording.processes for text in _on_process(process, recording, step)]
    found += [text for process in recording.processes for text in _on_coverage(process)]
    return [*dict.fromkeys(found), *_on_breaks(recording), *_on_small_graphs(recording)]


def _on_process(process: Process, recording: Recording, step: str | None) -> list[str]:
    wall = wall_time(process, recording)
    if wall is None:
        return []
    found = []
    compiling = wall.part(COMPILING)
    if compiling is not None and (compiling.seconds or 0.0) > _MUCH * wall.seconds:
        lost = thrown_away(process, compile_costs(process))
        recompiling = seconds_of(lost.recompiles)
        if recompiling is not None and recompiling > _MUCH * (compiling.seconds or 0.0):
            found.append(
                f"{seconds(recompiling)} of {seconds(compiling.seconds)} compiling went into recompiles: "
                "`dynamo recompiles` says which guard failed and how to avoid it."
            )
    guards = wall.part(GUARDS)
    if guards is not None and (guards.seconds or 0.0) > _MUCH * wall.seconds:
        found.append(f"Guards take {seconds(guards.seconds)}: `dynamo guards` lists what is checked.")
    steps, rest = find_steps(process, step), wall.part(REST)
    if steps is not None and rest is not None and (rest.seconds or 0.0) > 0.5 * wall.seconds:
        found.append(
            f"{seconds(rest.seconds)} were spent outside of compiled graphs: `dynamo run --profile` says "
            "on which operators, and on which lines."
        )
    return found


def _on_coverage(process: Process) -> list[str]:
    """Of the profiled window: what runs eagerly, where that is much."""
    window = process.window
    inside = None if window is None else coverage(window)["time"]
    if window is None or inside is None or 1 - inside < _MUCH or not window.eager:
        return []
    worst = max(window.eager, key=lambda operator: operator.seconds)
    where = f" at {place(worst.place)}" if worst.place is not None else ""
    return [
        f"In a steady step {1 - inside:.0%} of the time in operators and graphs is outside of compiled "
        f"graphs; {worst.name}{where} costs most: compile what calls it, too."
    ]


def _on_breaks(recording: Recording) -> list[str]:
    inside = sum(each.seconds for each in graph_times(recording))
    worst = next((cost for cost in break_costs(recording) if cost.seconds is not None), None)
    if worst is None or worst.seconds is None or worst.seconds < _MUCH * inside:
        return []
    first = worst.distinct.first
    return [
        f"The graph break at {place(first.place)} costs {seconds(worst.seconds)} "
        f"({seconds(worst.seconds_each)} each time): `dynamo breaks` says how to mend it."
    ]


def _on_small_graphs(recording: Recording) -> list[str]:
    small = [each for each in graph_times(recording) if each.is_overhead_bound]
    if not small:
        return []
    calls = sum(each.times.calls for each in small)
    return [f"{number(len(small), 'graph is', 'graphs are')} overhead-bound ({calls:,} calls): see below."]

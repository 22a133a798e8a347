"""What several drafts of one cause say together: one finding, whose words and figures agree."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from ...model import Process
from ..time.in_the_run import in_the_run
from ..words import number, seconds
from .draft import Draft
from .finding import Cost, Evidence, Figure, Finding, Kind, Known, Remedy

_Said = TypeVar("_Said")
_CERTAINTY: tuple[Known, ...] = ("measured", "sampled", "estimated")
# Those whose title says what was met, and not how much of it: how often stands behind it.
_COUNTED: tuple[Kind, ...] = ("fell back to eager", "left eager by a limit", "compiler error", "graph break")


def merged(identity: str, same: Sequence[Draft]) -> Finding:
    """One finding of all drafts of a cause. It speaks of the one that is worst, of the user's own if any is.

    What it costs is what they all cost the run, and its title says how many there are.
    """
    said = min(same, key=_how_bad)
    processes = tuple({process.stream: process for draft in same for process in draft.processes}.values())
    cost = _cost(same)
    evidence = Evidence(
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.compile_ids)),
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.graphs)),
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.records)),
        sum(draft.evidence.times for draft in same),
        tuple(dict.fromkeys(each for draft in same for each in draft.evidence.tests)),
    )
    are_ranks = all(process.rank is not None for process in processes)
    words = ("rank", "ranks") if are_ranks else ("process", "processes")
    others = len(same) - 1
    more = seconds(cost.lost.seconds) if _is_more(cost.lost, said.cost.lost) else ""
    title, effect = said.title, said.effect
    if said.kind in _COUNTED:
        several = f", in {number(len(processes), *words)}" if len(processes) > 1 else ""
        if evidence.times > 1:
            title += f" ({number(evidence.times, 'time')}{several})"
        if others and effect and more:
            effect += f"; with {number(others, 'other')} like it {more}"
    elif others:
        elsewhere = len(processes) - len(said.processes)
        alike = f"likewise in {number(elsewhere, f'other {words[0]}', f'other {words[1]}')}"
        title += f" ({alike if elsewhere else f'and {others} more like it'}{more and f', {more} in all'})"
    return Finding(
        kind=said.kind,
        identity=identity,
        title=title,
        cause=_worked_out(said.cause),
        effect=effect,
        place=said.place,
        function=said.function,
        source=said.source,
        via=said.via,
        is_library=said.is_library,
        cost=cost,
        evidence=evidence,
        remedies=_each_once(each for draft in (said, *same) for each in _worked_out(draft.remedies)),
        processes=tuple(process.stream.name for process in processes),
    )


def _how_bad(draft: Draft) -> tuple[bool, float, float]:
    cost = draft.cost
    return draft.is_library, -(cost.saves_at_most.seconds or 0.0), -(cost.lost.seconds or 0.0)


def _is_more(all_of_it: Figure, of_one: Figure) -> bool:
    """Whether it is another figure as they are shown."""
    return all_of_it.seconds is not None and seconds(all_of_it.seconds) != seconds(of_one.seconds)


def _each_once(remedies: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Two that change the same are one, though each names the values that it has seen."""
    found: dict[object, Remedy] = {}
    for remedy in remedies:
        found.setdefault(remedy.text if remedy.change is None else remedy.change, remedy)
    return tuple(found.values())


def _worked_out(said: _Said | Callable[[], _Said]) -> _Said:
    return said() if callable(said) else said


def _cost(same: Sequence[Draft]) -> Cost:
    """What they cost the run together; of a step, which is one process's, what it costs the worst of them."""
    return Cost(
        lost=_together([(draft, draft.cost.lost, 0.0) for draft in same]),
        per_step=max((draft.cost.per_step for draft in same), key=lambda figure: figure.seconds or 0.0),
        saves_at_most=_together(
            [(draft, draft.cost.saves_at_most, draft.outside_seconds) for draft in same],
        ),
    )


def _together(figures: Sequence[tuple[Draft, Figure, float]]) -> Figure:
    """Known if one of them is; as well as the least well known of those.

    The last of each is what of its seconds the other drafts of the process have in theirs, too.
    """
    known: list[Known] = []
    spent: list[tuple[Process, float]] = []
    shared: dict[Path, tuple[Process, float]] = {}
    for draft, figure, common in figures:
        if figure.seconds is not None:
            process = draft.processes[0]
            known.append(figure.known)
            spent.append((process, figure.seconds - common))
            _, most = shared.get(process.stream, (process, 0.0))
            shared[process.stream] = process, max(common, most)
    if not known:
        return figures[0][1]
    return Figure(in_the_run([*spent, *shared.values()]), max(known, key=_CERTAINTY.index))

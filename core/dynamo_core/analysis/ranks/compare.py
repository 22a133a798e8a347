"""All ranks at once: their counts, the first differences, who waits, and what was compared to say so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from ...model import Process, Recording
from ...shared.quick_dataclass import dataclass
from ..summary import Summary, summarize
from ..words import number
from .collectives import called_otherwise, collectives_of, shared_calls
from .compile_waits import CompileWaits, compile_waits
from .differences import differences, tells
from .members import Difference, Subject, every, named, newest_launch
from .waiting import LateRank, Wait, late_ranks, waits_of, who_waits

State = Literal["ended", "killed", "not ended", "not recorded"]
_LARGEST_JOB = 1_000_000  # ranks
_Counts = tuple[int | None, int | None, int | None, int | None]


@dataclass(frozen=True)
class RankRow:
    """Ranks that are alike in all of these but the time. None is not recorded.

    `state`: a process that is "killed" left no last record though the run is over (it was killed, or called
    os._exit); one that has "not ended" may go on; a trace that is not ours does not tell. The
    compile seconds are those of the rank that took least and of the one that took most.
    """

    ranks: tuple[int, ...]
    state: State
    graphs: int | None
    ops: int | None
    graph_breaks: int | None
    recompiles: int | None
    cache_hits: int
    cache_misses: int
    least_compile_seconds: float | None
    most_compile_seconds: float | None


@dataclass(frozen=True)
class Ranks:
    """The ranks of a run beside each other.

    `waits` says what they are inside of, `waiting` who cannot go on, in sentences. `compile_waits` is what
    compiling on one rank cost the others, `late` who kept others waiting and did not compile. `compared`
    names what was compared and agrees, `not_compared` what could not be. `left_out` are other processes of
    ranks: of earlier jobs in the same folder, of earlier attempts at this one, and those that recorded
    nothing.
    """

    rows: tuple[RankRow, ...]
    differences: tuple[Difference, ...]
    waits: tuple[Wait, ...]
    waiting: tuple[str, ...]
    compile_waits: CompileWaits
    late: tuple[LateRank, ...]
    compared: tuple[str, ...]
    not_compared: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def verdict(self) -> str | None:
        """Who waits for whom, or else the first difference; None where there is neither."""
        return next(iter((*self.waiting, *(each.title for each in self.differences))), None)


class _About(NamedTuple):
    """Something that is said of a subject; nothing is said twice of one in which the ranks differ."""

    subject: Subject | None
    text: str


def compare_ranks(recording: Recording) -> Ranks:
    """Compare what each rank of a recording did; of fewer than two there is nothing to compare."""
    chosen = newest_launch(recording)
    ranks = {rank: recording.processes[at] for rank, at in chosen.ranks.items()}
    calls = {rank: shared_calls(process) for rank, process in ranks.items()}
    found = differences(ranks, calls) if len(ranks) > 1 else ()
    called = tuple(called_otherwise(recording.called)) if len(recording.called) > 1 else ()
    compared, not_compared = _what_was_compared(ranks)
    if len(recording.called) > 1:
        which = f"the calls in the flight recorders of {number(len(recording.called), 'rank')}"
        compared.append(_About("calls of collectives", which))
        not_compared[0] = _About(None, "what else runs outside of compiled graphs")
    during_compiles = compile_waits(ranks, calls)
    if during_compiles.calls and any(clock.offset_seconds is None for clock in during_compiles.clocks):
        text = "who waited while ranks on other hosts compiled: too few calls in common to compare the clocks"
        not_compared.append(_About(None, text))
    subjects = {difference.subject for difference in (*found, *called)}
    return Ranks(
        rows=tuple(_rows(recording, ranks)),
        differences=(*(_of_all_ranks(difference, ranks) for difference in found), *called),
        waits=waits_of(ranks),
        waiting=who_waits(ranks, is_seen_outside=bool(called), is_over=_is_over(recording)),
        compile_waits=during_compiles,
        late=late_ranks(ranks, calls),
        compared=tuple(about.text for about in compared if about.subject not in subjects),
        not_compared=tuple(about.text for about in not_compared if about.subject not in subjects),
        left_out=(*recording.left_out, *chosen.left_out, *_absent(ranks)),
    )


def _absent(ranks: Mapping[int, Process]) -> Iterator[str]:
    """Ranks that the launcher of the others counts, and of which nothing lies here."""
    sizes = {(process.info.environment or {}).get("WORLD_SIZE", "") for process in ranks.values()}
    size = sizes.pop() if len(sizes) == 1 else ""
    is_part = any(process.whole is not None for process in ranks.values())
    if len(ranks) > 1 and not is_part and size.isdecimal() and int(size) <= _LARGEST_JOB:
        absent = set(range(int(size))) - set(every(ranks, ranks))
        if absent:
            yield f"{named([*absent])} of {int(size):,}, which recorded nothing here"


def _of_all_ranks(difference: Difference, ranks: Mapping[int, Process]) -> Difference:
    sides = [replace(side, ranks=every(ranks, side.ranks)) for side in difference.sides]
    return replace(difference, sides=tuple(sorted(sides, key=lambda side: (-len(side.ranks), side.ranks))))


def _rows(recording: Recording, ranks: Mapping[int, Process]) -> Iterator[RankRow]:
    alike: dict[tuple[State, _Counts, tuple[int, int]], list[tuple[int, Summary]]] = {}
    for rank, process in ranks.items():
        own = summarize(Recording(recording.path, None, [process], None, []))
        counts = own.graphs, own.ops, own.graph_breaks, own.recompiles
        kind = _state(process, recording), counts, _looked_up(process)
        alike.setdefault(kind, []).append((rank, own))
    for (state, (graphs, ops, breaks, recompiles), (hits, misses)), group in alike.items():
        spent = [own.compile_time_s for _, own in group if own.compile_time_s is not None]
        others = [other.compile_seconds for rank, _ in group for other in ranks[rank].alike]
        spent += [seconds for seconds in others if seconds is not None]
        yield RankRow(
            every(ranks, (rank for rank, _ in group)),
            state,
            graphs,
            ops,
            breaks,
            recompiles,
            hits,
            misses,
            min(spent, default=None),
            max(spent, default=None),
        )


def _state(process: Process, recording: Recording) -> State:
    if not process.is_ours:
        return "not recorded"
    if process.end is not None:
        return "ended"
    return "killed" if _is_over(recording) else "not ended"


def _is_over(recording: Recording) -> bool:
    """Whether a launcher of ours saw the end of all of them."""
    return recording.run is not None and recording.run.ended_ns is not None


def _looked_up(process: Process) -> tuple[int, int]:
    outcomes = [lookup.outcome for lookup in process.cache_lookups]
    return outcomes.count("hit"), outcomes.count("miss")


def _what_was_compared(ranks: Mapping[int, Process]) -> tuple[list[_About], list[_About]]:
    """What was compared, and what could not be."""
    graphs = [graph for process in ranks.values() for graph in process.graphs]
    several = [
        _as_far_as_all_came(ranks, "graph breaks", "the order of graph breaks", lambda each: each.breaks),
        _as_far_as_all_came(ranks, "recompiles", "the order of recompiles", lambda each: each.recompiles),
        _as_far_as_all_came(
            ranks, "caches", "hits and misses in torch's caches", lambda each: each.cache_lookups
        ),
    ]
    of_graphs: list[tuple[Subject, str]] = []
    if all(graph.nodes is not None for graph in graphs):
        if any(map(collectives_of, graphs)):
            of_graphs.append(("collectives", "the order and sizes of the collectives in graphs"))
        if graphs:
            of_graphs.append(("graphs", "the graphs, with their ops and sizes"))
    elif all(graph.code is not None for graph in graphs):
        of_graphs.append(("graphs", "the code of the graphs, but for numbers in it"))
    several += [
        _as_far_as_all_came(ranks, subject, text, lambda each: each.graphs) for subject, text in of_graphs
    ]
    if not any(process.cache_lookups for process in ranks.values()):  # which is no sign that caches agree
        none_there = _About("caches", "hits and misses in torch's caches (nothing was looked up)")
        several = [
            (none_there, False) if is_compared and about.subject == "caches" else (about, is_compared)
            for about, is_compared in several
        ]
    compared = [about for about, is_compared in several if is_compared]
    outside = "what runs outside of compiled graphs"
    if of_graphs and not any(subject == "collectives" for subject, _ in of_graphs):
        outside += ", collectives as well: there are none in the graphs"
    not_compared = [_About(None, outside)]
    not_compared += [about for about, is_compared in several if not is_compared]
    if not of_graphs:
        not_compared.append(_About("graphs", "what is in the graphs"))
    if all(process.is_ours for process in ranks.values()):
        settings = (
            "versions, settings of torch's and the environment variables it reads, but for a rank's own"
        )
        compared.append(_About("settings", settings))
    else:
        not_compared.append(_About(None, "settings and environment, which this trace does not hold"))
    return compared, not_compared


def _as_far_as_all_came(
    ranks: Mapping[int, Process], subject: Subject, text: str, things: Callable[[Process], Sequence[object]]
) -> tuple[_About, bool]:
    """The text, and whether these were compared at all: one that did not end may go on."""
    silent = [rank for rank, process in ranks.items() if not tells(process, subject)]
    if silent:
        return _About(subject, f"{text} (not recorded of {named(every(ranks, silent))})"), False
    counts = {rank: len(things(process)) for rank, process in ranks.items()}
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    if least == most or all(process.end is not None for process in ranks.values()):
        return _About(subject, text), True
    if least:
        return _About(subject, f"{text} (the first {least:,}, of up to {most:,})"), True
    without = named(every(ranks, (rank for rank, count in counts.items() if not count)))
    return _About(subject, f"{text} ({without} recorded none, others up to {most:,})"), False

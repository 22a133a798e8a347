"""All ranks at once: their counts, the first differences, who waits, and what was compared to say so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from ...model import Process, Recording
from ...shared.quick_dataclass import dataclass
from ..summary import Summary, summarize
from ..words import number
from .collectives import collectives_of, flight_recorder_differences, shared_calls
from .compile_waits import CompileWaits, compile_waits
from .differences import differences, is_recorded
from .gradients import GradientsOfRank, gradients_exchanged
from .members import Difference, Subject, newest_launch, ranks_in_words, with_equivalents
from .waiting import LateRank, Wait, late_ranks, waits_of, who_waits

State = Literal["ended", "killed", "not ended", "not recorded"]
_LARGEST_JOB = 1_000_000  # ranks
_SHOWN_BY: dict[Subject, str] = {"graph breaks": "breaks", "recompiles": "recompiles"}
_Counts = tuple[int | None, int | None, int | None, int | None]


@dataclass(frozen=True)
class RankRow:
    """Ranks with equal values in all of these but the time. None means not recorded.

    `state`: a process that is "killed" left no last record though the run is over (it was killed, or called
    os._exit); one that has "not ended" may still run; a trace that this tool did not record does not have it.
    The compile seconds are those of the rank that took least and of the one that took most.
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
    """The comparison of the ranks of a run.

    `waits` says what the ranks are inside of, `waiting` which of them cannot go on, in sentences.
    `compile_waits` is what compiling on one rank cost the others, `late` the ranks that kept others waiting
    without compiling, `gradients` how long each exchanged them. `compared` names what was compared and
    agrees, `not_compared` what could not be compared. `left_out` are other processes of ranks: of earlier
    jobs in the same folder, of earlier attempts at this one, and those that recorded nothing.
    """

    rows: tuple[RankRow, ...]
    differences: tuple[Difference, ...]
    waits: tuple[Wait, ...]
    waiting: tuple[str, ...]
    compile_waits: CompileWaits
    late: tuple[LateRank, ...]
    gradients: tuple[GradientsOfRank, ...]
    compared: tuple[str, ...]
    not_compared: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def verdict(self) -> str | None:
        """Who waits for whom, or else the first difference; None where there is neither."""
        return next(iter((*self.waiting, *(each.title for each in self.differences))), None)


class _Statement(NamedTuple):
    """A sentence on a subject; dropped if the ranks differ in the subject, as the difference says more."""

    subject: Subject | None
    text: str


def compare_ranks(recording: Recording) -> Ranks:
    """Compare what each rank of a recording did; with fewer than two ranks there are no differences."""
    chosen = newest_launch(recording)
    ranks = {rank: recording.processes[at] for rank, at in chosen.ranks.items()}
    calls = {rank: shared_calls(process) for rank, process in ranks.items()}
    found = differences(ranks, calls) if len(ranks) > 1 else ()
    called = tuple(flight_recorder_differences(recording.called)) if len(recording.called) > 1 else ()
    compared, not_compared = _what_was_compared(ranks)
    if len(recording.called) > 1:
        which = f"the calls in the flight recorders of {number(len(recording.called), 'rank')}"
        compared.append(_Statement("calls of collectives", which))
        not_compared[0] = _Statement(None, "what else runs outside of compiled graphs")
    during_compiles = compile_waits(ranks, calls)
    if during_compiles.calls and any(clock.offset_seconds is None for clock in during_compiles.clocks):
        text = "who waited while ranks on other hosts compiled: too few calls in common to compare the clocks"
        not_compared.append(_Statement(None, text))
    subjects = {difference.subject for difference in (*found, *called)}
    return Ranks(
        rows=tuple(_rows(recording, ranks)),
        differences=(*(_of_all_ranks(difference, ranks) for difference in found), *called),
        waits=waits_of(ranks),
        waiting=who_waits(ranks, is_seen_outside=bool(called), is_over=_is_over(recording)),
        compile_waits=during_compiles,
        late=late_ranks(ranks, calls),
        gradients=gradients_exchanged(ranks),
        compared=tuple(each.text for each in compared if each.subject not in subjects),
        not_compared=tuple(each.text for each in not_compared if each.subject not in subjects),
        left_out=(*recording.left_out, *chosen.left_out, *_absent(ranks)),
    )


def _absent(ranks: Mapping[int, Process]) -> Iterator[str]:
    """The ranks that are part of the world size, and of which there is no recording."""
    sizes = {(process.info.environment or {}).get("WORLD_SIZE", "") for process in ranks.values()}
    size = sizes.pop() if len(sizes) == 1 else ""
    is_part = any(process.whole is not None for process in ranks.values())
    if len(ranks) > 1 and not is_part and size.isdecimal() and int(size) <= _LARGEST_JOB:
        absent = set(range(int(size))) - set(with_equivalents(ranks, ranks))
        if absent:
            yield f"{ranks_in_words([*absent])} of {int(size):,}, which recorded nothing here"


def _of_all_ranks(difference: Difference, ranks: Mapping[int, Process]) -> Difference:
    sides = [replace(side, ranks=with_equivalents(ranks, side.ranks)) for side in difference.sides]
    return replace(difference, sides=tuple(sorted(sides, key=lambda side: (-len(side.ranks), side.ranks))))


def _rows(recording: Recording, ranks: Mapping[int, Process]) -> Iterator[RankRow]:
    alike: dict[tuple[State, _Counts, tuple[int, int]], list[tuple[int, Summary]]] = {}
    for rank, process in ranks.items():
        own = summarize(Recording(recording.path, None, [process], None, []))
        counts = own.graphs, own.ops, own.graph_breaks, own.recompiles
        kind = _state(process, recording), counts, _cache_counts(process)
        alike.setdefault(kind, []).append((rank, own))
    for (state, (graphs, ops, breaks, recompiles), (hits, misses)), group in alike.items():
        spent = [own.compile_time_s for _, own in group if own.compile_time_s is not None]
        others = [other.compile_seconds for rank, _ in group for other in ranks[rank].alike]
        spent += [seconds for seconds in others if seconds is not None]
        yield RankRow(
            with_equivalents(ranks, (rank for rank, _ in group)),
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
    if process.runtime.end is not None:
        return "ended"
    return "killed" if _is_over(recording) else "not ended"


def _is_over(recording: Recording) -> bool:
    """Whether `dynamo run` saw the end of all processes."""
    return recording.run is not None and recording.run.ended_ns is not None


def _cache_counts(process: Process) -> tuple[int, int]:
    """How many cache look-ups were hits, and how many misses."""
    outcomes = [lookup.outcome for lookup in process.caching.lookups]
    return outcomes.count("hit"), outcomes.count("miss")


def _what_was_compared(ranks: Mapping[int, Process]) -> tuple[list[_Statement], list[_Statement]]:
    """What was compared, and what could not be compared."""
    graphs = [graph for process in ranks.values() for graph in process.graphs]
    several = [
        _common_part(ranks, "graph breaks", "the order of graph breaks", lambda each: each.breaks),
        _common_part(ranks, "recompiles", "the order of recompiles", lambda each: each.recompiles),
        _common_part(ranks, "caches", "hits and misses in torch's caches", lambda each: each.caching.lookups),
    ]
    in_graphs: list[tuple[Subject, str]] = []
    if all(graph.nodes is not None for graph in graphs):
        if any(map(collectives_of, graphs)):
            in_graphs.append(("collectives", "the order and sizes of the collectives in graphs"))
        if graphs:
            in_graphs.append(("graphs", "the graphs, with their ops and sizes"))
    elif all(graph.code is not None for graph in graphs):
        in_graphs.append(("graphs", "the code of the graphs, but for numbers in it"))
    several += [_common_part(ranks, subject, text, lambda each: each.graphs) for subject, text in in_graphs]
    if not any(process.caching.lookups for process in ranks.values()):  # then agreement means nothing
        no_lookups = _Statement("caches", "hits and misses in torch's caches (nothing was looked up)")
        several = [
            (no_lookups, False) if is_compared and statement.subject == "caches" else (statement, is_compared)
            for statement, is_compared in several
        ]
    compared = [statement for statement, is_compared in several if is_compared]
    outside = "what runs outside of compiled graphs"
    if in_graphs and not any(subject == "collectives" for subject, _ in in_graphs):
        outside += ", collectives as well: there are none in the graphs"
    not_compared = [_Statement(None, outside)]
    not_compared += [statement for statement, is_compared in several if not is_compared]
    if not in_graphs:
        not_compared.append(_Statement("graphs", "what is in the graphs"))
    if all(process.is_ours for process in ranks.values()):
        settings = (
            "versions, settings of torch's and the environment variables it reads, but for a rank's own"
        )
        compared.append(_Statement("settings", settings))
    else:
        not_compared.append(_Statement(None, "settings and environment, which this trace does not hold"))
    return compared, not_compared


def _common_part(
    ranks: Mapping[int, Process], subject: Subject, text: str, things: Callable[[Process], Sequence[object]]
) -> tuple[_Statement, bool]:
    """How much of a subject all ranks have, and whether it was compared.

    If a rank has not ended, only as much is compared as every rank has recorded so far.
    """
    silent = [rank for rank, process in ranks.items() if not is_recorded(process, subject)]
    if silent:
        who = ranks_in_words(with_equivalents(ranks, silent))
        return _Statement(subject, f"{text} (not recorded of {who})"), False
    counts = {rank: len(things(process)) for rank, process in ranks.items()}
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    if least == most or all(process.runtime.end is not None for process in ranks.values()):
        return _Statement(subject, text), True
    if least:
        return _Statement(subject, f"{text} (the first {least:,}, of up to {most:,})"), True
    without = ranks_in_words(with_equivalents(ranks, (rank for rank, count in counts.items() if not count)))
    shown_by = f"; `dynamo {_SHOWN_BY[subject]}` has them" if subject in _SHOWN_BY else ""
    return _Statement(subject, f"{text} ({without} recorded none, others up to {most:,}{shown_by})"), False

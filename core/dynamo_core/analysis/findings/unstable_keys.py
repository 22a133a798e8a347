"""Finding: a graph compiled again since its cache key differs in an address, a time or a random id alone."""

from collections.abc import Iterator

from ...model import CacheLookup, Process
from ..caches.key_parts import key_of_lines
from ..caches.part_words import PartDifference, differences
from ..figures import Figures
from ..words import number, seconds
from .draft import WORTH_A_WORD_S, Draft
from .looked_up import compiled_in_vain, looked_up
from .remedy import remedy

_WHAT_TO_DO = (
    "make that part of what it does, not of the object: a custom pass's `uuid()` can return "
    "`torch._inductor.custom_graph_pass.get_hash_for_files((__file__,))`; with such a key nothing is ever "
    "found again, in this run or the next."
)


def unstable_keys(figures: Figures) -> Iterator[Draft]:
    """Graphs that a process compiled again because their key is made of something that is never the same."""
    for process in figures.recording.processes:
        # Of all that it compiled: the second time may be short, since kernels have a cache of their own, but
        # the next start is as cold as the first.
        if sum(lookup.took_seconds or 0.0 for lookup in process.cache_lookups) < WORTH_A_WORD_S:
            continue
        by_part: dict[str, list[tuple[CacheLookup, PartDifference]]] = {}
        for lookup in process.cache_lookups:
            for found in _all_unstable(lookup)[:1]:
                by_part.setdefault(found.part, []).append((lookup, found))
        for part, repeated in by_part.items():
            took = sum(lookup.took_seconds or 0.0 for lookup, _ in repeated)
            yield _draft(process, part, repeated, took)


def _all_unstable(lookup: CacheLookup) -> tuple[PartDifference, ...]:
    """What the key differs in from the graph's last one, if nothing else than what passes is in it."""
    before, after = (key_of_lines(pair[side] for pair in lookup.differing_parts) for side in (0, 1))
    found = differences(before.differing(after))
    return found if all(each.kind == "unstable" for each in found) else ()


def _draft(
    process: Process, part: str, repeated: list[tuple[CacheLookup, PartDifference]], took: float
) -> Draft:
    found = looked_up(process, [lookup for lookup, _ in repeated])
    again = number(len(repeated), "graph was", "graphs were")
    return Draft(
        "unstable key",
        key=(part,),
        title=f"{again} compiled again though the process had compiled the same before, {seconds(took)}",
        cause=f"{repeated[0][1].sentence}; a later start does not find them either",
        processes=(process,),
        place=found.place,
        function=found.function,
        cost=compiled_in_vain(took),
        evidence=found.evidence,
        remedies=remedy("unstable key", _WHAT_TO_DO),
    )

"""The collectives that torch's flight recorder saw, in graphs or not: the first that not all ranks called.

A dump holds the last calls of a rank. They are numbered in each group, so that those of all ranks are
compared from the first that every dump still has.
"""

from collections.abc import Iterator, Mapping

from ...model import CalledCollective
from .steps import Difference, Step, sides

# Of others (scatter, all_to_all, …) what a rank gives may be its own.
_OF_SAME_SIZES = ("all_reduce", "allreduce", "broadcast", "reduce", "all_gather", "allgather", "barrier")

Dumps = Mapping[int, tuple[CalledCollective, ...]]


def called_otherwise(dumps: Dumps) -> Iterator[Difference]:
    """For each group, the first call that is not the same on all ranks that have called in it."""
    groups: dict[str, dict[int, dict[int, CalledCollective]]] = {}
    for rank, calls in dumps.items():
        for call in calls:
            groups.setdefault(call.group, {}).setdefault(rank, {})[call.number] = call
    for group, ranks in groups.items():
        number = _first_unlike(ranks)
        if number is not None:
            steps = {rank: _step(calls.get(number)) for rank, calls in ranks.items()}
            title = f"call {number:,} of a collective of group {group} is not the same on all ranks"
            yield Difference("calls of collectives", title, sides(steps))


def _first_unlike(ranks: Mapping[int, Mapping[int, CalledCollective]]) -> int | None:
    first = max(min(calls) for calls in ranks.values())
    last = max(max(calls) for calls in ranks.values())
    for number in range(first, last + 1):
        if len({_step(calls.get(number)).key for calls in ranks.values()}) > 1:
            return number
    return None


def _step(call: CalledCollective | None) -> Step:
    if call is None:
        return Step(None, "did not call it, as far as its dump goes")
    has_same_sizes = call.name.strip("_").startswith(_OF_SAME_SIZES)
    what = f"{call.name} of {call.value}" if call.value else call.name
    return Step(
        (call.name, call.value if has_same_sizes else ""),
        what if call.is_done else f"{what}, not finished",
        call.place,
    )

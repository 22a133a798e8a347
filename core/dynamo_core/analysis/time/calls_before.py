"""How many calls of graphs began before a moment, from those that were noted one by one."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise

from ...model import CallSample, CallTimes


class CallsBefore:
    """How many calls of these graphs, together, began before a moment: to be asked for many moments."""

    def __init__(self, graphs: Iterable[CallTimes]) -> None:
        self._least, self._most = [0], [0]
        changes: list[tuple[int, int, int]] = []  # when, and how many more began then: at least, at most
        for times in graphs:
            calls = sorted(noted_calls(times), key=lambda call: call.began_ns)
            numbers = [call.number for call in calls]
            least = [0, *accumulate(numbers, max)]
            next_one = [*accumulate(reversed(numbers), min, initial=times.calls + 1)][::-1]
            most = [max(number - 1, before) for number, before in zip(next_one, least, strict=True)]
            self._most[0] += most[0]
            more = zip(calls, pairwise(least), pairwise(most), strict=True)
            changes += ((call.began_ns, low[1] - low[0], high[1] - high[0]) for call, low, high in more)
        changes.sort()
        self._moments = [moment for moment, _, _ in changes]
        for _, more_at_least, more_at_most in changes:
            self._least.append(self._least[-1] + more_at_least)
            self._most.append(self._most[-1] + more_at_most)

    def at(self, moment: int) -> tuple[int, int]:
        """How many calls began before the moment: at least, and at most."""
        position = bisect_right(self._moments, moment)
        return self._least[position], self._most[position]


def noted_calls(times: CallTimes | None) -> list[CallSample]:
    """Every call that was noted one by one, in order."""
    if times is None:
        return []
    calls = {call.number: call for call in (*times.early, *times.samples)}
    return [calls[number] for number in sorted(calls)]

"""How long the runs of a bench will still take, from what those took that are done."""

from collections.abc import Iterable, Mapping
from statistics import median

from ..analysis.words import roughly


class RunTimes:
    """What the runs of each backend took, in seconds. A first run is not counted once there is a second."""

    def __init__(self, backends: Iterable[str]) -> None:
        self._took: dict[str, list[float]] = {name: [] for name in backends}

    def add(self, backend: str, took: float) -> None:
        """One more run, in the order in which they ended."""
        self._took[backend].append(took)

    def rounds(self, backend: str) -> int:
        """How many of its runs are done."""
        return len(self._took[backend])

    def of(self, runs: Mapping[str, int]) -> float | None:
        """What so many further runs of each backend take; None while one of those has not run at all."""
        if any(count and not self._took[name] for name, count in runs.items()):
            return None
        return sum(count * self._typical(name) for name, count in runs.items() if count)

    def _typical(self, backend: str) -> float:
        first, *others = self._took[backend]
        return median(others or [first])


def remaining_words(planned: float | None, at_most: float | None, most_rounds: int) -> str | None:
    """`about 40 s more, 2 min if it takes all 15 rounds`; None while nothing is known."""
    if planned is None:
        return None
    more = f"about {roughly(planned)} more"
    if at_most is None or at_most <= planned:
        return more
    return f"{more}, {roughly(at_most)} if it takes all {most_rounds} rounds"

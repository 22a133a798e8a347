"""How much time `--verify` may still take: for graphs and for calls of the program together."""

from ..primitives import perf_counter_ns

_SHARE = 0.2
_ALLOWANCE = 60.0  # seconds that comparing may take before it has to be worth a share of the run
_SPENT = "comparing had taken its share of the time (--verify-budget)"


class VerifyBudget:
    """The time that comparing may take in this process; `share` is that of the time since now.

    Without one it is a fifth of the time, and a minute in any case.
    """

    def __init__(self, share: float | None) -> None:
        self._share = _SHARE if share is None else share
        self._allowance = _ALLOWANCE if share is None else 0.0
        self._began_ns = perf_counter_ns()
        self._spent_ns = self._largest_ns = 0
        self._is_over = False

    def why_spent(self) -> str | None:
        """Why nothing more may be compared now: there may be too little time left; None if there is enough.

        What the next comparison takes is not known: it is expected to take as long as the longest one so far.
        """
        if self._is_over:
            return _SPENT
        elapsed = perf_counter_ns() - self._began_ns
        is_spent = self._spent_ns + self._largest_ns > self._allowance * 1e9 + self._share * elapsed
        return _SPENT if is_spent else None

    def end(self) -> None:
        """Have nothing more compared, in this process."""
        self._is_over = True

    def spend(self, nanoseconds: int) -> None:
        """Count the time that a comparison took."""
        self._spent_ns += nanoseconds
        self._largest_ns = max(self._largest_ns, nanoseconds)

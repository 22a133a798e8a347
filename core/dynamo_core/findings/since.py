"""What became of what the run before found: which findings are gone, and which are new."""

from collections.abc import Sequence
from dataclasses import field
from pathlib import PurePath

from ..shared.quick_dataclass import dataclass

_NAMED = 3  # of the findings that are gone, or new


@dataclass(frozen=True)
class Since:
    """Findings that only the run before had, or only this one, as kind and place, and how many both have.

    Of kinds that are the same in every run of a program, so none that rest on times. `by_verify` are those
    that only comparing with eager finds, which the run before did not do. `recording` is the run before's.
    Where this run did not end well nothing is compared, and `is_compared` is False: what it did not reach
    would be gone, or new.
    """

    recording: str
    gone: list[str]
    new: list[str]
    still_there: int
    is_compared: bool = True
    by_verify: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """In words."""
        before = f"Findings beside the run before ({PurePath(self.recording).name})"
        if not self.is_compared:
            return f"{before}: not compared, since this run did not end well."
        if not (self.gone or self.new or self.still_there or self.by_verify):
            return f"{before}: neither has any."
        parts = f"{_counted(self.gone, 'gone')}, {_counted(self.new, 'new')}"
        counted = f"{before}: {parts}, {self.still_there or 'none'} still there."
        if not self.by_verify:
            return counted
        return f"{counted} --verify, which that run did not have, finds {_counted(self.by_verify, 'more')}."


def _counted(findings: Sequence[str], what: str) -> str:
    if not findings:
        return f"none {what}"
    named = ", ".join([*findings[:_NAMED], *(["…"] if len(findings) > _NAMED else [])])
    return f"{len(findings)} {what} ({named})"

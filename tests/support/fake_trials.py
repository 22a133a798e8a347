"""Says of the text of a program whether it fails, in place of the processes of `dynamo repro`."""

import ast
from collections.abc import Callable, Sequence

from dynamo_core.repro.failure import Failure
from dynamo_core.repro.trials import Candidate


class FakeTrials:
    """Counts what is tried; each text has to be Python."""

    def __init__(self, fails: Callable[[str], bool]) -> None:
        self._fails = fails
        self.tried = 0

    def first(self, candidates: Sequence[Candidate | None], wanted: Failure) -> int | None:
        """The index of the first text that fails."""
        for index, each in enumerate(candidates):
            if each is not None:
                self.tried += 1
                ast.parse(each.text)
                if self._fails(each.text):
                    return index
        return None

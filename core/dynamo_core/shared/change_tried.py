"""The record of changes that `dynamo run --try` has tried on a frame."""

from typing import Any

from . import names
from .our_record import OurRecord

RAISED = "the call raised "
"""The beginning of `why`, where the function's call raised an error in the copy."""


class ChangeTried(OurRecord):
    """`--try`: a frame traced again in a copy of the process, as it is and with `changes`.

    A change is written as for `--config`, or is an argument of torch.compile (`dynamic=True`); of several,
    none changes anything. `before` and
    `after` have the stacks of `breaks` (file and line), how many graphs further calls made (`recompiled`) and
    frames were `left_eager`, the `ops` in graphs, and `why` nothing is known.
    """

    NAME = names.CHANGE_TRIED

    file: str
    line: int
    changes: list[str]
    before: dict[str, Any]
    after: dict[str, Any]
    ns: int

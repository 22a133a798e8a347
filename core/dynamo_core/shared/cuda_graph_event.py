"""The record of what became of a compiled graph that was to run as CUDA graphs."""

from typing import Any, Literal

from . import names
from .our_record import OurRecord

CudaGraphStep = Literal["warmed up", "recorded", "skipped"]
RecordedAgain = Literal["an input at another address", "memory of an earlier graph", "another order"]


class CudaGraphEvent(OurRecord):
    """A part of a compiled graph was warmed up or recorded as a CUDA graph, or one was skipped.

    `function` is torch's number of a `part` at one of its sizes. `again` says why a function that had been
    recorded was recorded once more. `reason` is torch's for skipping, without the stack, of which `line` is
    the user's; where an input has moved, `line` reads it. `ns` is what recording took, with its first run.
    """

    NAME = names.CUDA_GRAPH

    what: CudaGraphStep
    part: int | None = None
    function: int | None = None
    again: RecordedAgain | None = None
    reason: str | None = None
    line: dict[str, Any] | None = None
    ns: int | None = None

"""Functions that share one code object: those that a decorator made, methods that classes inherit.

torch keeps compiled versions with the code object, so that those of all such functions count together.
"""

from collections.abc import Sequence

from ..model import Compile, GuardFailure
from .recompiles import FrameRecompiles


def functions_with_one_code(
    frame: FrameRecompiles, met: Sequence[tuple[Compile, GuardFailure | None]]
) -> int | None:
    """How many calls of torch.compile made the functions that share the code of a frame, at least.

    None where one of these recompiles is of the same call as the cache entry that was nearest, or where that
    was not recorded.
    """
    frames = frame.records.frames
    calls: set[int] = set()
    for compile_, failure in met:
        ids = compile_.compile_id, None if failure is None else failure.entry
        pair = [None if (found := frames.get(each)) is None else found.compile_call for each in ids]
        known = {call for call in pair if call is not None}
        if len(known) < 2:
            return None
        calls |= known
    on_lines = [found.calls_of_line or 0 for compile_, _ in met if (found := frames.get(compile_.compile_id))]
    return max(len(calls), *on_lines) if calls else None

"""One processor for all candidates of a round.

Two processors can differ by a factor of two for seconds, by what others do on the cores that they share. The
system leaves a process that computes in one thread where it is: it would differ from another process by that.

Source: Linux, sched_setaffinity(2) and sched_getcpu(3).
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def staying_on(processor: int | None) -> Iterator[int | None]:
    """This thread stays on a processor, without one on that where it is; gives its number.

    None where the system does not allow it: then the thread is wherever the system puts it.
    """
    try:
        before = os.sched_getaffinity(0)
        processor = ctypes.CDLL(None).sched_getcpu() if processor is None else processor
        os.sched_setaffinity(0, {processor})
    except (OSError, AttributeError, ValueError, OverflowError):
        yield None
        return
    try:
        yield processor
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, before)

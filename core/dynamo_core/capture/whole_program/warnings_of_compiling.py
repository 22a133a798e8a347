"""What torch warns of while a captured program is compiled: the program did not ask for it.

Under `-W error` such a warning would be an error, which ends the capture. The program's own warnings stay as
they are, also those of its other threads meanwhile.

Source: Lib/warnings.py (filters, warn_explicit) and Python/_warnings.c (get_filter) of Python 3.10 to 3.14:
the category of a filter is tested by `issubclass`. Run with 3.11.
"""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_here = threading.local()


class _WhileWeCompile(type):
    """The type of a category that has all warnings of a thread while that compiles, and no others."""

    def __subclasscheck__(cls, category: type) -> bool:
        return getattr(_here, "depth", 0) > 0


class _WarningWhileWeCompile(Warning, metaclass=_WhileWeCompile):
    pass


_FILTER: tuple[Any, ...] = ("ignore", None, _WarningWhileWeCompile, None, 0)


@contextmanager
def compiling_warns_of_nothing() -> Iterator[None]:
    """Ignore the warnings of this thread for a time.

    Python is not told that its filters change, as it would show again what it has shown once.
    """
    filters: Any = warnings.filters
    _here.depth = getattr(_here, "depth", 0) + 1
    filters.insert(0, _FILTER)
    try:
        yield
    finally:
        _here.depth -= 1
        if _FILTER in filters:
            filters.remove(_FILTER)

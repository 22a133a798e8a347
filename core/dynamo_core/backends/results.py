"""How a backend of ours says that it does not take a graph."""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple


class Declined(Exception):
    """Why, in words that follow the backend's name."""


# How a backend that chooses among others says which one it chose.


class Taken(NamedTuple):
    """What such a backend returns instead of the callable alone. Only a chain understands it.

    `using` is the backend chosen, as the user would type it: `inductor:max-autotune`.
    """

    compiled: Callable[..., Any]
    using: str


# The graph that a thread is handing to its backend: who is asked about it need not describe it again.


class GraphInProgress(threading.local):
    """Its number in this process and its key (`graph_key.py`); None between graphs."""

    number: int | None = None
    key: str | None = None


graph_in_progress = GraphInProgress()

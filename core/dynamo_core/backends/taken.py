"""How a backend that chooses among others says which one it chose."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Taken(NamedTuple):
    """What such a backend returns instead of the callable alone. Only a chain understands it.

    `using` is the backend chosen, as the user would type it: `inductor:max-autotune`.
    """

    compiled: Callable[..., Any]
    using: str

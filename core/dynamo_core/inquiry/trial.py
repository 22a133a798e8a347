"""Compile and run a tiny graph with a backend, for --check."""

import time
from collections.abc import Sequence
from typing import Any

from ..backends.chain import Chain, NoBackendTookGraph
from ..shared.backend_choice import BackendChoice
from ..shared.our_record import OurRecord
from ..shared.records import GraphTaken
from ..shared.settings import Settings


def try_out(name: str, device: str) -> dict[str, Any]:
    """Whether it took the graph and computed what eager computes, and how long that took.

    `seconds` has the compile in it. `reason` says what was wrong.
    """
    import torch

    told: list[OurRecord] = []
    settings = Settings(recording="", backend=name, strict=True)
    chain = Chain([BackendChoice(name)], settings, told.append)

    def compute(x: Any, weight: Any) -> Any:
        return torch.relu(x @ weight + 1.0)

    with torch.no_grad():
        x, weight = (torch.randn(8, 8, device=device) for _ in range(2))
        expected = compute(x, weight)
        start = time.perf_counter()
        try:
            result = torch.compile(compute, backend=chain, fullgraph=True)(x, weight)
            torch.testing.assert_close(result, expected)
        except Exception as error:
            return {"works": False, "seconds": None, "reason": _reason(error, told)}
    return {"works": True, "seconds": time.perf_counter() - start, "reason": None}


def _reason(error: Exception, told: Sequence[OurRecord]) -> str:
    inner = getattr(error, "inner_exception", error)
    taken = told[-1] if told else None
    if isinstance(inner, NoBackendTookGraph) and isinstance(taken, GraphTaken):
        return taken.declined[-1]["reason"]
    return f"{type(error).__name__}: {error}"

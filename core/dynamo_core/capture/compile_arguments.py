"""From the user's `--backend`, `--mode` and the like to the context that `torch.compile` makes of them."""

import importlib.util
import sys
from typing import Any

from ..settings import Settings


def optimize_context(settings: Settings) -> Any:
    """The context that `torch.compile` makes for these arguments, with all of its checks and defaults."""
    import torch

    contexts: list[Any] = []
    optimize = torch._dynamo.optimize

    def keep_context(*args: Any, **named: Any) -> Any:
        contexts.append(optimize(*args, **named))
        return contexts[-1]

    torch._dynamo.optimize = keep_context
    try:
        torch.compile(
            lambda: None,
            backend=resolve_backend(settings.backend),
            mode=settings.mode,
            dynamic=settings.dynamic,
            fullgraph=settings.fullgraph,
            options=settings.options or None,
        )
    finally:
        torch._dynamo.optimize = optimize
    return contexts[0]


def resolve_backend(backend: str) -> Any:
    """A registered name as it is; `module:function` and `file.py:function` as the function."""
    place, colon, function = backend.rpartition(":")
    if not colon:
        return backend
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location("_dynamo_backend_file", place)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {place}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # torch looks functions up by their module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    return getattr(module, function)

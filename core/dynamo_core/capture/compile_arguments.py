"""From the user's `--backend`, `--mode` and the like to the context that `torch.compile` makes of them."""

import importlib.util
import os
import sys
from typing import Any

from ..settings import Settings


def optimize_context(settings: Settings) -> Any:
    """The context that `torch.compile` makes for these arguments, with all of its checks and defaults.

    Source: torch/__init__.py (compile), which ends in `torch._dynamo.optimize(...)(model)`; 2.8 to 2.15.
    """
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
    """A registered name as it is; `module:function` and `file.py:function` as the function.

    A backend that stands in the program itself is taken from there: the program is not run a second time.
    """
    place, colon, function = backend.rpartition(":")
    if not colon:
        return backend
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location("_dynamo_backend_file", place)
    else:
        spec = importlib.util.find_spec(place)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no module {place}")
    main = sys.modules["__main__"]
    main_file = getattr(main, "__file__", None)
    if main_file and spec.origin and os.path.realpath(main_file) == os.path.realpath(spec.origin):
        return getattr(main, function)
    if place.endswith(".py"):
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # torch looks functions up by their module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    return getattr(module, function)

"""From what the user named as a backend to what torch.compile makes of it."""

import functools
import importlib.util
import inspect
import itertools
import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..shared.backend_choice import BackendChoice
from ..shared.backend_packages import import_package_of
from ..shared.our_record import OurRecord
from .ofi import ofi

# `(graph module, example inputs) -> callable`, as Dynamo calls it; torch's CompilerFn.
Compiler = Callable[..., Any]

# Writes an artifact record of ours about the graph that is being compiled: its name and its payload.
Tell = Callable[[OurRecord], None]

_one_at_a_time = threading.RLock()  # not a plain lock: what is imported meanwhile may compile as well
_file_numbers = itertools.count(1)


def compiler_of(choice: BackendChoice, *, dynamic: bool | None = None) -> Compiler:
    """The compiler that `torch.compile` makes of a backend, its mode and options; its errors are torch's.

    ImportError, AttributeError: there is no such function.
    """
    compiler: Compiler = optimize_arguments(choice, dynamic, fullgraph=False)[1]["backend"]
    return compiler


def optimize_arguments(
    backend: Any, dynamic: bool | None, fullgraph: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What `torch.compile` calls `torch._dynamo.optimize` with, after all of its checks and defaults.

    `backend` is a BackendChoice, or a compiler. Source: torch/__init__.py (compile), which ends in
    `torch._dynamo.optimize(backend=…)(model)`; 2.8 to 2.15.
    """
    import torch

    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def nothing() -> None:
        """What the call is known by: the program's other threads may compile meanwhile."""

    def keep_arguments(*args: Any, **named: Any) -> Any:
        def decorate(model: Any) -> Any:
            if model is not nothing:
                return optimize(*args, **named)(model)
            calls.append((args, named))
            return model

        return decorate

    with _one_at_a_time:
        mode, options = None, None
        if isinstance(backend, BackendChoice):
            mode, options = backend.mode, dict(backend.options) or None
            backend = resolve_backend(backend.name)
        optimize = torch._dynamo.optimize
        torch._dynamo.optimize = keep_arguments
        try:
            inspect.unwrap(
                torch.compile
            )(  # ours around it (`capture/interventions/override.py`) is for the program
                nothing, backend=backend, mode=mode, dynamic=dynamic, fullgraph=fullgraph, options=options
            )
        finally:
            torch._dynamo.optimize = optimize
    return calls[0]


def resolve_backend(backend: str) -> Any:
    """A registered name as it is; `module:function` and `file.py:function` as the function; ours as itself.

    A backend that stands in the program itself is taken from there: the program is not run a second time.
    """
    if backend == "ofi":
        return ofi
    place, colon, function = backend.rpartition(":")
    if not colon:
        import_package_of(backend)
        return backend
    is_file = place.endswith(".py")
    main = sys.modules["__main__"]
    main_file = getattr(main, "__file__", None)
    file = place if is_file else _file_of_module(place)
    if main_file and file and os.path.realpath(main_file) == os.path.realpath(file):
        return getattr(main, function)
    module = _module_in_file(os.path.abspath(place)) if is_file else importlib.import_module(place)
    return getattr(module, function)


def _file_of_module(name: str) -> str | None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no module {name}")
    return spec.origin


@functools.cache
def _module_in_file(file: str) -> ModuleType:
    """Run once, however many backends are in it and however often they are asked for."""
    spec = importlib.util.spec_from_file_location(f"_dynamo_backend_file_{next(_file_numbers)}", file)
    assert spec is not None and spec.loader is not None  # its name ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # torch looks functions up by their module
    spec.loader.exec_module(module)
    return module

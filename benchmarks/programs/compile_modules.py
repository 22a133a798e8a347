"""Runs a program with `Module.compile(backend="eager")` on each module that no other module calls."""

import runpy
import sys
from pathlib import Path
from typing import Any

import torch

_call = torch.nn.Module.__call__


def _call_compiled(module: torch.nn.Module, *args: Any, **named: Any) -> Any:
    if module._compiled_call_impl is None:
        module.compile(backend="eager")
    torch.nn.Module.__call__ = _call  # type: ignore[method-assign]
    try:
        return module(*args, **named)
    finally:
        torch.nn.Module.__call__ = _call_compiled  # type: ignore[method-assign]


if __name__ == "__main__":
    torch.nn.Module.__call__ = _call_compiled  # type: ignore[method-assign]
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")

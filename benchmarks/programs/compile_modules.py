"""Runs a program with `torch.compile(module, backend="eager")` of each module that no other module calls."""

import runpy
import sys
from pathlib import Path
from typing import Any

import torch

_call = torch.nn.Module.__call__
_compiled: dict[torch.nn.Module, Any] = {}


def _call_compiled(module: torch.nn.Module, *args: Any, **named: Any) -> Any:
    torch.nn.Module.__call__ = _call  # type: ignore[method-assign]
    try:
        if module not in _compiled:
            _compiled[module] = torch.compile(module, backend="eager")
        return _compiled[module](*args, **named)
    finally:
        torch.nn.Module.__call__ = _call_compiled  # type: ignore[method-assign]


if __name__ == "__main__":
    torch.nn.Module.__call__ = _call_compiled  # type: ignore[method-assign]
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")

"""Probe: which optimizers the program makes, and whether a graph holds the step of one.

Source: torch/optim/optimizer.py (Optimizer.__init__ and __setstate__ call _patch_step_function). 2.8 to 2.15.
Nothing happens at a step, so that Dynamo finds a compiled one as it would without us.
"""

import re
from types import ModuleType
from typing import Any

from ..names import OPTIMIZER
from .probes import Probes

_STEP = re.compile(r'^ *File "([^"\n]+)", line \d+, in step$', re.MULTILINE)

_step_files: set[str] = set()


def install(optimizer: ModuleType, probes: Probes) -> None:
    """Wrap `Optimizer._patch_step_function`: each class of optimizer is noted once."""
    original = optimizer.Optimizer._patch_step_function
    seen: set[type] = set()

    @probes.harmless("optimizers")
    def note(kind: type) -> None:
        if kind in seen:
            return
        seen.add(kind)
        file = _file_of_step(kind)
        _step_files.add(file)
        probes.stream.artifact(
            OPTIMIZER, {"name": kind.__qualname__, "module": kind.__module__, "file": file}
        )

    def _patch_step_function(self: Any) -> None:
        note(type(self))
        original(self)

    optimizer.Optimizer._patch_step_function = _patch_step_function


def optimizer_steps(gm: Any) -> list[str]:
    """The files of the optimizers' `step` methods from which nodes of a graph of Dynamo's come."""
    if not _step_files:
        return []
    found: set[str] = set()
    for node in gm.graph.nodes:
        found.update(_STEP.findall(node.meta.get("stack_trace") or ""))
    return sorted(found & _step_files)


def _file_of_step(kind: Any) -> str:
    """Where the class's own `step` is written, below the decorators of torch."""
    step = kind.step
    while hasattr(step, "__wrapped__"):
        step = step.__wrapped__
    return str(step.__code__.co_filename)

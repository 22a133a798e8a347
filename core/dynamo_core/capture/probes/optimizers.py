"""Probe: which optimizers the program has made, and whether a graph contains the step of one.

Source: torch/optim/optimizer.py (Optimizer._patch_step_function), 2.8 to 2.15: the first optimizer of a class
marks the class's `step` as hooked. So nothing is wrapped, and Dynamo traces optimizers as it does without us.
An optimizer that inherits its step from a class of which another was made before is taken for that class.
"""

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...shared.early_records import Optimizer
from ..writing.stream import Stream

if TYPE_CHECKING:
    from torch.fx import GraphModule


class OptimizerNotes:
    """Records each class of optimizers that the program uses, once."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._noted: set[type] = set()

    def note(self) -> None:
        """Record the classes that were not recorded before."""
        for kind in _optimizers_made():
            if kind not in self._noted:
                self._noted.add(kind)
                self._stream.record(
                    Optimizer(name=kind.__qualname__, module=kind.__module__, file=_file_of_step(kind))
                )


def optimizer_steps(gm: "GraphModule") -> list[str]:
    """The files of the optimizers' `step` methods from which nodes of a Dynamo graph come."""
    files = {_file_of_step(kind) for kind in _optimizers_made()}
    if not files:
        return []
    found: set[str] = set()
    for node in gm.graph.nodes:
        stack = node.meta.get("stack_trace") or ""
        found.update(re.findall(r'^ *File "([^"\n]+)", line \d+, in step$', stack, re.MULTILINE))
    return sorted(found & files)


def _optimizers_made() -> Iterator[type]:
    optimizer: Any = sys.modules["torch.optim.optimizer"]
    kinds = [optimizer.Optimizer]
    for kind in kinds:
        kinds += type.__subclasses__(kind)
        if getattr(vars(kind).get("step"), "hooked", False):
            yield kind


def _file_of_step(kind: type) -> str:
    """The file that defines the class's `step`, inside torch's decorators."""
    step = vars(kind)["step"]
    while hasattr(step, "__wrapped__"):
        step = step.__wrapped__
    return str(step.__code__.co_filename)

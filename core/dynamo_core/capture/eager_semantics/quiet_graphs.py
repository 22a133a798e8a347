"""What a compiled graph raises is for the program to print: FX prints it on stderr as well.

Source: torch/fx/graph_module.py (_WrappedCall.__call__), 2.8 to 2.15.
"""

import sys
from typing import Any

from . import aot_function, kept_graph

_FARTHEST = 40  # frames from a module of AOTAutograd's to the call of the graph, or to its backward


def raise_quietly() -> None:
    """From here on, in this process; modules that the program traced itself are as before."""
    from torch.fx.graph_module import _WrappedCall

    original = _WrappedCall.__call__

    def __call__(self: Any, module: Any, *args: Any, **named: Any) -> Any:
        if not _is_in_a_graph_of_ours():
            return original(self, module, *args, **named)
        if self.cls_call is not None:
            return self.cls_call(module, *args, **named)
        return super(self.cls, module).__call__(*args, **named)

    _WrappedCall.__call__ = __call__


def _is_in_a_graph_of_ours() -> bool:
    ours = (vars(kept_graph), vars(aot_function))
    frame: Any = sys._getframe(2)
    for _ in range(_FARTHEST):
        if frame is None:
            return False
        if any(frame.f_globals is names for names in ours):
            return True
        frame = frame.f_back
    return False

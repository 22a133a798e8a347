"""Keep eager's semantics for the graphs of a captured program, from when capture begins until it ends."""

from collections.abc import Callable
from typing import Any

from ...backends.graph_copy import copy_of_graph
from ..harmless import Probes
from .caught import place_of_caught_operation
from .graph_facts import facts_of
from .inner_outputs import answer_gradients_of_inner_outputs
from .kept_graph import KeptGraph
from .notes import Notes
from .printed import print_eagers_names
from .quiet_graphs import raise_quietly
from .tensor_keys import leave_tensor_keys_to_eager

_MARK = "_dynamo_static_input_type"


class Keeper:
    """What the probe of graphs asks about each graph of a captured program.

    `may_skip` says that a frame may be left to eager: not where --fullgraph makes an error of that.
    """

    def __init__(self, probes: Probes, *, may_skip: bool) -> None:
        self._probes = probes
        self._may_skip = may_skip
        installs = [answer_gradients_of_inner_outputs, print_eagers_names, raise_quietly]
        for install in installs + ([leave_tensor_keys_to_eager] if may_skip else []):
            probes.harmless("eager semantics")(install)()

    def before_backend(self, gm: Any, number: int) -> KeptGraph | None:
        """Read a graph before its backend does, which may rewrite it; None if that is not possible.

        SkipFrame if the frame is to run in eager, so that the program's `except` catches what it waits for.
        """
        from torch._dynamo.exc import SkipFrame

        place = self._place_of_caught_operation(gm) if self._may_skip else None
        if place is not None:
            notes = Notes(None, self._probes)
            notes.add("caught_exception", "eager", **notes.at(place))
            raise SkipFrame(f"left to eager: {place[0]}:{place[1]} is in a `try`, which a graph would miss")
        try:
            return KeptGraph(_runnable(gm), facts_of(gm), Notes(number, self._probes))
        except Exception as error:
            self._probes.failed("eager semantics", error)
            return None

    def forget_marks(self, gm: Any) -> None:
        """Take back what Dynamo notes on the program's own parameters, where `vars` and pickles show it.

        The backend has read it by now. Source: torch/_dynamo/decorators.py (mark_static_address).
        """
        try:
            for node in gm.graph.find_nodes(op="placeholder"):
                value = getattr(node.meta.get("grapharg"), "example", None)
                if hasattr(value, _MARK):
                    delattr(value, _MARK)
        except Exception as error:
            self._probes.failed("eager semantics", error)

    def _place_of_caught_operation(self, gm: Any) -> tuple[str, int] | None:
        try:
            return place_of_caught_operation(gm)
        except Exception as error:
            self._probes.failed("eager semantics", error)
            return None


def _runnable(gm: Any) -> Callable[..., Any]:
    """The graph in eager. What Dynamo noted on its nodes, fake tensors among it, is not kept alive."""
    import torch

    copied = copy_of_graph(gm)
    for module in copied.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            node.meta.clear()
    run: Callable[..., Any] = copied.forward
    return run

"""A chain of backends: each graph goes to the first that takes it, and the recording says why others did not.

Taking a graph means to return a callable. A backend declines by returning None, as those of the first
TorchDynamo did, or anything else that cannot be called, or by raising.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from ..backend_choice import BackendChoice
from ..names import GRAPH_TAKEN
from ..settings import Settings
from .compilers import Compiler, compiler_of
from .declined import Declined

# Writes an artifact record of ours about the graph that is being compiled: its name and its payload.
Tell = Callable[[str, dict[str, Any]], None]


class NoBackendTookGraph(RuntimeError):
    """Raised into the program by --strict."""


class Chain:
    """The compiler that Dynamo sees."""

    def __init__(self, choices: Sequence[BackendChoice], settings: Settings, tell: Tell) -> None:
        self.compiler_name = settings.backend  # what torch and our records call it
        self._settings = settings
        self._tell = tell
        self._links = [(choice, self._link(choice)) for choice in choices]

    def __call__(self, gm: Any, example_inputs: Sequence[Any]) -> Any:
        """Compile a graph. With --strict, NoBackendTookGraph if none takes it; else it runs eager."""
        declined: list[dict[str, str]] = []
        for choice, compiler in self._links:
            try:
                compiled = compiler(_copy_of(gm), example_inputs)
            except Exception as error:
                declined.append({"backend": str(choice), "reason": _reason(error)})
                continue
            if callable(compiled):
                self._tell(GRAPH_TAKEN, {"by": str(choice), "declined": declined})
                return compiled
            what = "None" if compiled is None else f"a {type(compiled).__name__}, which is not callable"
            declined.append({"backend": str(choice), "reason": f"it returned {what}"})
        self._tell(GRAPH_TAKEN, {"by": None, "declined": declined})
        if self._settings.strict:
            reasons = "; ".join(f"{each['backend']}: {each['reason']}" for each in declined)
            raise NoBackendTookGraph(f"--strict: no backend takes this graph ({reasons})")
        return gm.forward

    def _link(self, choice: BackendChoice) -> Compiler:
        return compiler_of(choice, dynamic=self._settings.dynamic)


def _copy_of(gm: Any) -> Any:
    """The same modules and parameters, under a graph that a backend may rewrite before it declines."""
    import torch

    copied = torch.fx.GraphModule(gm, deepcopy(gm.graph), type(gm).__name__)
    copied.meta = dict(gm.meta)
    return copied


def _reason(error: Exception) -> str:
    if isinstance(error, Declined):
        return str(error)
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # exceptions can have any `__str__`
        return type(error).__name__

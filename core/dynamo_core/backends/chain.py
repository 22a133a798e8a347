"""A chain of backends: each graph goes to the first that takes it, and the recording says why others did not.

Taking a graph means to return a callable; one that chooses among others returns `Taken(callable, name)`,
and the recording has the name. A backend declines by returning None, as those of the first TorchDynamo did,
or anything else that cannot be called, or by raising; the words of `Declined` are the reason as it is shown.
"""

from collections.abc import Sequence
from typing import Any

from ..shared.backend_choice import FOR_INFERENCE, BackendChoice
from ..shared.backend_packages import why_unknown
from ..shared.records import GraphTaken
from ..shared.settings import Settings
from .autotuned import Autotuned
from .compilers import Compiler, Tell, compiler_of
from .cuda_graphs import declining_what_cuda_graphs_skip
from .declined import Declined
from .for_inference import declining_what_trains
from .graph_copy import copy_of_graph
from .graph_in_progress import graph_in_progress
from .taken import Taken

_LONGEST_REASON = 2_000


class NoBackendTookGraph(RuntimeError):
    """Raised into the program by --strict."""


class Chain:
    """The compiler that Dynamo sees."""

    def __init__(self, choices: Sequence[BackendChoice], settings: Settings, tell: Tell) -> None:
        self.__name__ = self.compiler_name = settings.backend  # what torch and our records call it
        self._settings = settings
        self._tell = tell
        self._links = [(str(choice), self._link(choice)) for choice in choices]

    def __call__(self, gm: Any, example_inputs: Sequence[Any]) -> Any:
        """Compile a graph. With --strict, NoBackendTookGraph if none takes it; else it runs eager."""
        from torch._dynamo.exc import RestartAnalysis, SkipFrame

        declined: list[dict[str, str]] = []
        for name, compiler in self._links:
            try:
                compiled = compiler(copy_of_graph(gm), example_inputs)
            except (
                RestartAnalysis,
                SkipFrame,
            ):  # AOTAutograd asks Dynamo to begin the frame anew, or leave it
                raise
            except Exception as error:
                declined.append({"backend": name, "reason": _reason(error)})
                continue
            compiled, using = compiled if isinstance(compiled, Taken) else (compiled, None)
            if callable(compiled):
                self._tell(_taken(name, using, declined))
                return compiled
            what = "None" if compiled is None else f"a {type(compiled).__name__}, which is not callable"
            declined.append({"backend": name, "reason": f"it returned {what}"})
        self._tell(_taken(None, None, declined))
        if self._settings.strict:
            reasons = "; ".join(f"{each['backend']}: {each['reason']}" for each in declined)
            raise NoBackendTookGraph(f"--strict: no backend takes this graph ({reasons})")
        return gm.forward

    def reset(self) -> None:
        """What torch._dynamo.reset asks of every backend in use."""
        for _, compiler in self._links:
            reset = getattr(compiler, "reset", None)
            if reset is not None:
                reset()

    def _link(self, choice: BackendChoice) -> Compiler:
        """The compiler of one backend; one that cannot be had declines every graph, and says why."""
        if choice.name == "autotuned":
            return Autotuned(self._settings)
        from torch._dynamo.exc import InvalidBackend

        try:
            compiler = compiler_of(choice, dynamic=self._settings.dynamic)
        except Exception as error:
            is_unknown = isinstance(error, InvalidBackend)
            reason = (why_unknown(choice.name) if is_unknown else None) or _reason(error)

            def decline(gm: Any, example_inputs: Sequence[Any]) -> Any:
                raise Declined(reason)

            return decline
        if choice.name == "cudagraphs":
            return declining_what_cuda_graphs_skip(compiler)
        return declining_what_trains(choice.name, compiler) if choice.name in FOR_INFERENCE else compiler


def _taken(by: str | None, using: str | None, declined: list[dict[str, str]]) -> GraphTaken:
    return GraphTaken(graph=graph_in_progress.number, by=by, using=using, declined=declined)


def _reason(error: Exception) -> str:
    try:
        words = str(error) if isinstance(error, Declined) else f"{type(error).__name__}: {error}"
    except Exception:  # exceptions can have any `__str__`
        words = type(error).__name__
    return words if len(words) <= _LONGEST_REASON else words[:_LONGEST_REASON] + "…"

"""A chain of backends: each graph goes to the first that takes it, and the recording says why others did not.

Taking a graph means to return a callable; one that chooses among others returns `Taken(callable, name)`,
and the recording has the name. A backend declines by returning None, as those of the first TorchDynamo did,
or anything else that cannot be called, or by raising; the words of `Declined` are the reason as it is shown.
"""

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..shared.backend_choice import FOR_INFERENCE, BackendChoice, parse_choice, why_unknown
from ..shared.records import GraphTaken
from ..shared.settings import Settings
from ..shared.winners import Conditions, Tuned, cpu_model, device_words, find, read, size_class
from ..shared.winners import why_unknown as why_no_winner
from .compilers import (
    Compiler,
    Tell,
    compiler_of,
    copy_of_graph,
    declining_what_cuda_graphs_skip,
    declining_what_trains,
)
from .results import Declined, Taken, graph_in_progress

# What a measurement in this process holds for: its device, its torch, how torch's compilers are set.


# Those that this tool sets itself, where it measures or in a program that it captures.
_OUR_SETTINGS = {"donated_buffer", "fallback_random", "post_grad_custom_post_pass"}


def conditions_here(inputs: Sequence[Any]) -> Conditions:
    """The conditions under which a graph is compiled for these inputs."""
    import torch

    kinds = {value.device.type for value in inputs if isinstance(value, torch.Tensor)}
    device = device_words(kinds, hardware(), torch.get_num_threads())
    return Conditions(device, str(torch.__version__), compiler_settings(), symbolic_sizes(inputs))


def hardware() -> dict[str, str]:
    """The name of the CPU, and of the first device of each other kind that torch can use here."""
    import torch

    found = {"cpu": cpu_model()}
    if torch.cuda.is_available():
        found["cuda"] = torch.cuda.get_device_name(0)
    return found


def compiler_settings() -> str:
    """What stands for all settings of torch's compilers, those from the environment included.

    Source: torch/utils/_config_module.py (save_config_portable), read in 2.13; Inductor's cache keys have the
    same values (torch/_inductor/codecache.py, FxGraphHashDetails).
    """
    import torch._functorch.config
    import torch._inductor.config

    values = [f"deterministic={torch.are_deterministic_algorithms_enabled()}"]
    for module in (torch._inductor.config, torch._functorch.config):
        portable = sorted(module.save_config_portable().items())
        values += [f"{name}={value!r}" for name, value in portable if name not in _OUR_SETTINGS]
    return sha256("\n".join(values).encode("utf-8", "backslashreplace")).hexdigest()[:12]


def symbolic_sizes(inputs: Sequence[Any]) -> tuple[str, ...]:
    """The class of each symbolic size of a compile's inputs, in their order; unbacked ones have none."""
    import torch

    found: dict[str, str] = {}
    for value in inputs:
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt) and size.node.expr.is_symbol and size.node.has_hint():
                found.setdefault(str(size.node.expr), size_class(int(size.node.hint)))
    return tuple(found.values())


# The backend `autotuned`: each graph goes to the backend that `dynamo autotune` found to be its best.


class Autotuned:
    """Compiles with the winner of the autotune file; declines graphs that it does not know."""

    def __init__(self, settings: Settings) -> None:
        assert settings.autotune_file is not None, "the launcher has checked that there is one"
        self._file = Path(settings.autotune_file)
        self._dynamic = settings.dynamic
        self._compilers: dict[str, Compiler] = {}

    def __call__(self, gm: Any, example_inputs: Sequence[Any]) -> Any:
        """Compile a graph while it is being recorded, which is when its key is known."""
        winner = self._winner(example_inputs)
        if winner not in self._compilers:
            self._compilers[winner] = compiler_of(parse_choice(winner), dynamic=self._dynamic)
        compiled = self._compilers[winner](gm, example_inputs)
        return Taken(compiled, winner) if callable(compiled) else compiled

    @cached_property
    def _entries(self) -> list[Tuned]:
        return read(self._file)

    def _winner(self, inputs: Sequence[Any]) -> str:
        key, conditions = graph_in_progress.key, conditions_here(inputs)
        if key is None:
            raise Declined("the graph could not be recorded, so it has no key")
        entry = find(self._entries, key, conditions)
        if entry is None or entry.winner is None:
            raise Declined(f"{self._file} {why_no_winner(self._entries, key, conditions)}")
        return entry.winner


# A chain of backends:


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

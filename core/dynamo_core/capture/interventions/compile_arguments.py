"""From the settings to the context in which Dynamo compiles the program."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...shared.backend_choice import FOR_INFERENCE, OURS, BackendChoice
from ...shared.settings import FULLGRAPH_FIRST, Settings
from ..imports import import_later

if TYPE_CHECKING:
    from ...backends.chain import Chain
    from ...backends.compilers import Tell


def optimize_context(settings: Settings, tell: "Tell") -> Any:
    """The context that `torch.compile` makes for these settings, with all of its checks and defaults."""
    import torch

    (compilers,) = import_later("dynamo_core.backends.compilers")
    backend = backend_of(settings.choices(), settings, tell)
    args, named = compilers.optimize_arguments(
        backend, settings.dynamic, settings.fullgraph == FULLGRAPH_FIRST
    )
    return torch._dynamo.optimize(*args, **named)


def is_torchs_own(choices: Sequence[BackendChoice]) -> bool:
    """Whether this is a backend that torch registers, alone, which torch is given as it is named.

    Any other, one that cannot train, and every chain of several is ours to call, so that a graph which it
    does not take is told of, and goes on.
    """
    first = choices[0]
    return len(choices) == 1 and first.name not in (*OURS, *FOR_INFERENCE) and not first.is_function


def backend_of(choices: Sequence[BackendChoice], settings: Settings, tell: "Tell") -> "BackendChoice | Chain":
    """What compiles for these choices. `autotuned` alone, which knows some graphs, brings Inductor along."""
    if is_torchs_own(choices):
        return choices[0]
    from ...backends.chain import Chain

    if [choice.name for choice in choices] == ["autotuned"]:
        choices = (*choices, BackendChoice("inductor"))
    return Chain(choices, settings, tell)

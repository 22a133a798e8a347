"""From the settings to the context in which Dynamo compiles the program."""

from collections.abc import Sequence
from typing import Any

from ..backend_choice import OURS, BackendChoice
from ..backends.chain import Chain, Tell
from ..backends.compilers import optimize_arguments
from ..backends.for_inference import FOR_INFERENCE
from ..settings import FULLGRAPH_FIRST, Settings


def optimize_context(settings: Settings, tell: Tell) -> Any:
    """The context that `torch.compile` makes for these settings, with all of its checks and defaults."""
    import torch

    backend = backend_of(settings.choices(), settings, tell)
    args, named = optimize_arguments(backend, settings.dynamic, settings.fullgraph == FULLGRAPH_FIRST)
    return torch._dynamo.optimize(*args, **named)


def backend_of(choices: Sequence[BackendChoice], settings: Settings, tell: Tell) -> BackendChoice | Chain:
    """What compiles for these choices.

    A backend that torch registers is given to torch as it is named. Any other, one that cannot train, and
    every chain of several is ours to call, so that a graph which it does not take is told of, and goes on.
    `autotuned` knows some graphs only: alone, it stands for itself and Inductor.
    """
    if [choice.name for choice in choices] == ["autotuned"]:
        choices = (*choices, BackendChoice("inductor"))
    first = choices[0]
    is_torchs = len(choices) == 1 and first.name not in (*OURS, *FOR_INFERENCE) and not first.is_function
    return first if is_torchs else Chain(choices, settings, tell)

"""How a backend declines a graph that trains, where it is for inference alone (`FOR_INFERENCE`)."""

from collections.abc import Callable, Sequence
from typing import Any

from .declined import Declined


def declining_what_trains(name: str, compiler: Callable[..., Any]) -> Callable[..., Any]:
    """The same backend, but Declined for a graph that needs gradients."""

    def compile_graph(gm: Any, example_inputs: Sequence[Any]) -> Any:
        decline_what_trains(name, example_inputs)
        return compiler(gm, example_inputs)

    return compile_graph


def decline_what_trains(name: str, example_inputs: Sequence[Any]) -> None:
    """Declined if the graph needs gradients."""
    import torch

    if torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in example_inputs
    ):
        raise Declined(f"the graph needs gradients, and {name} is for inference")

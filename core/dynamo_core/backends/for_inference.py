"""Backends for inference alone, whose results have no gradients even where the program needs them.

Such a backend takes a graph that trains without a word, and `backward` fails later. Seen with openvino
2026.4; read in torch/_dynamo/backends/tvm.py (2.8 to 2.15) and torch_tensorrt 2.13.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .declined import Declined

FOR_INFERENCE = ("openvino", "tensorrt", "torch_tensorrt", "tvm")


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

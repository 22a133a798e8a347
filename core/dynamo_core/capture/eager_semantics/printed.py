"""A tensor prints the name of its node of autograd: eager's, not that of the compiled graph.

Source: torch/_tensor_str.py (_str, which Tensor.__repr__ calls, and which asks for the class of `grad_fn`);
Dynamo's fake tensors have been through eager's autograd, and know eager's names. 2.8 to 2.15.
"""

from collections.abc import Callable
from typing import Any

_NAMES = "dynamo_names_in_eager"


def note_eagers_names(node_class: Any, names: dict[int, str]) -> None:
    """The name of eager's node for each output of a compiled graph's."""
    setattr(node_class, _NAMES, names)


def print_eagers_names() -> None:
    """Print backward functions by the names that they have in eager, from here on in this process."""
    import torch._tensor_str as tensor_str

    original: Callable[..., str] = tensor_str._str

    def _str(tensor: Any, **named: Any) -> str:
        node = tensor.grad_fn if tensor.requires_grad and not tensor.is_leaf else None
        name = _eagers_name(node, tensor)
        if name is None:
            return original(tensor, **named)
        node_class = type(node)
        own_name, node_class.__name__ = node_class.__name__, name
        try:
            return original(tensor, **named)
        finally:
            node_class.__name__ = own_name

    tensor_str._str = _str


def _eagers_name(node: Any, tensor: Any) -> str | None:
    names: dict[int, str] | None = getattr(type(node), _NAMES, None)
    return None if names is None else names.get(tensor.output_nr)

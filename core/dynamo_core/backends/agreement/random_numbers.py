"""Whether a graph draws random numbers, and the generators' states around a run of it."""

import inspect
from collections.abc import Iterable
from typing import Any

# Arguments of torch's functions with which they draw nothing.
_PROBABILITIES = ("p", "dropout_p", "dropout")
_TRAINING = ("training", "train")

# Functions of torch.nn.functional that draw, and have no operator of their name.
_WITHOUT_OPERATOR = ("multi_head_attention_forward", "gumbel_softmax", "dropout1d", "dropout2d", "dropout3d")


class RandomState:
    """The generators of the CPU and of the devices that `values` are on, as they were."""

    def __init__(self, values: Iterable[Any]) -> None:
        import torch

        devices = {value.device for value in values if isinstance(value, torch.Tensor)}
        self._devices = [device for device in devices if device.type not in ("cpu", "meta")]
        self._states = self._read()

    def has_changed(self) -> bool:
        """Whether numbers have been drawn since."""
        return not _equal(self._read(), self._states)

    def equals(self, other: "RandomState") -> bool:
        """Whether both would draw the same numbers; they are of the same devices."""
        return _equal(self._states, other._states)

    def restore(self) -> None:
        """Let every generator go on from where it was."""
        import torch

        torch.set_rng_state(self._states[0])
        for device, state in zip(self._devices, self._states[1:], strict=True):
            torch.get_device_module(device).set_rng_state(state, *_index(device))

    def _read(self) -> list[Any]:
        import torch

        return [
            torch.get_rng_state(),
            *(torch.get_device_module(each).get_rng_state(*_index(each)) for each in self._devices),
        ]


def _equal(states: list[Any], others: list[Any]) -> bool:
    return all(state.equal(other) for state, other in zip(states, others, strict=True))


def _index(device: Any) -> tuple[Any, ...]:
    return () if device.type == "mps" else (device,)  # which has one device only


def draws_random_numbers(gm: Any) -> bool:
    """Whether the graph, or one inside it, has an operation that draws random numbers.

    Read from the graph: torch tags its operators (torch.Tag.nondeterministic_seeded), and those of Dynamo's
    graphs have their names. A dropout of probability 0 or outside of training draws none. Where inputs are at
    hand, a run between `RandomState(...)` and `has_changed()` says it for sure.
    """
    import torch

    for module in gm.modules():
        if isinstance(module, torch.fx.GraphModule):
            if any(_draws(node) for node in module.graph.nodes):
                return True
        elif isinstance(module, torch.nn.modules.dropout._DropoutNd) and module.training and module.p > 0:
            return True
    return False


def _draws(node: Any) -> bool:
    if node.op not in ("call_function", "call_method"):
        return False
    name = _operator_name(node.target)
    if name not in _WITHOUT_OPERATOR and not _is_tagged(node.target, name):
        return False
    arguments = _arguments(node, name)
    if any(arguments.get(flag) is False for flag in _TRAINING):
        return False
    probabilities = [arguments[each] for each in _PROBABILITIES if each in arguments]
    return not probabilities or any(each != 0 for each in probabilities)


def _operator_name(target: Any) -> str:
    if isinstance(target, str):
        return target
    schema = getattr(target, "_schema", None)
    return str(schema.name.rpartition("::")[2] if schema is not None else getattr(target, "__name__", ""))


def _is_tagged(target: Any, name: str) -> bool:
    import torch

    tag = torch.Tag.nondeterministic_seeded
    if hasattr(target, "_schema"):
        return tag in target.tags
    packet = getattr(torch.ops.aten, name, None)
    return packet is not None and any(tag in getattr(packet, each).tags for each in packet.overloads())


def _arguments(node: Any, name: str) -> dict[str, Any]:
    """The node's arguments by name, defaults included; only the named ones where nobody knows the names."""
    import torch

    schema = getattr(node.target, "_schema", None)
    packet = getattr(torch.ops.aten, name, None)
    if schema is None and not inspect.isfunction(node.target) and packet is not None:
        schema = getattr(packet, packet.overloads()[0])._schema
    if schema is not None:
        names = [argument.name for argument in schema.arguments]
        named = {each.name: each.default_value for each in schema.arguments if each.has_default_value()}
        return {**named, **dict(zip(names, node.args, strict=False)), **node.kwargs}
    try:
        bound = inspect.signature(node.target).bind(*node.args, **node.kwargs)
    except (TypeError, ValueError):
        return dict(node.kwargs)
    bound.apply_defaults()
    return bound.arguments

"""One call of a compiled graph that autograd may come back to, and the same call made again in eager."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .eager_run import StateBefore, Unanswerable, not_captured

if TYPE_CHECKING:
    from .kept_graph import KeptGraph


class Call:
    """Kept on the autograd node.

    `is_spent` after a backward that freed what it needs; `is_differentiated` when gradients of its gradients
    may be asked for.
    """

    __slots__ = (
        "arguments",
        "before",
        "graph",
        "hooks",
        "inner",
        "is_differentiated",
        "is_spent",
        "replay",
        "versions",
    )

    def __init__(self, graph: "KeptGraph", arguments: Sequence[Any], before: StateBefore | None) -> None:
        self.graph = graph
        self.arguments = arguments
        self.before = before
        self.versions = [arguments[i]._version for i in graph.watched_inputs]
        self.is_spent = self.is_differentiated = False
        self.replay: Replay | None = None
        self.inner: list[
            tuple[int, Any]
        ] = []  # outputs on which others depend: which, weak references to them
        self.hooks: list[tuple[int, Any]] = []  # those that the program registered on such outputs

    def positions(self) -> list[int]:
        """The outputs of the node that gradients may come to, by number."""
        function = self.graph.function
        assert function is not None  # else there is no node that has this call
        return sorted(set(function.positions.values()))

    def made_again(self) -> "Replay":
        """The graph in eager on the same inputs, with gradients; Unanswerable if they are not the same."""
        if self.replay is None:
            if self.graph.facts.communicates:
                raise Unanswerable
            for index, version in zip(self.graph.watched_inputs, self.versions, strict=True):
                if self.arguments[index]._version != version:
                    raise Unanswerable
            self.replay = Replay(self)
        return self.replay


class Replay:
    """Eager's own graph of autograd for a call: what it allows, frees and raises is what eager does."""

    def __init__(self, call: Call) -> None:
        import torch
        from torch.autograd.graph import get_gradient_edge

        graph = call.graph
        before = call.before
        restored = {} if before is None else before.inputs_changed()
        now = None
        if before is not None and before.random_state is not None:
            now = type(before.random_state)(call.arguments)
            before.random_state.restore()
        try:
            with not_captured(), graph.modes.entered():
                # Views: gradients of gradients reach the program's tensors, and hooks on them are not called.
                inputs = [
                    restored[index]
                    if index in restored
                    else value.view_as(value)
                    if isinstance(value, torch.Tensor) and value.requires_grad
                    else value
                    for index, value in enumerate(call.arguments)
                ]
                outputs = graph.as_list(graph.run(*inputs))
        finally:
            if now is not None:
                now.restore()
        # Edges, not tensors: a view of what the program writes in place is given a new node by autograd.
        self._trained = {
            i: get_gradient_edge(value)
            for i, value in enumerate(inputs)
            if isinstance(value, torch.Tensor) and value.requires_grad
        }
        self._inputs = len(inputs)
        function = graph.function
        assert function is not None  # else there is no node that would come back to this call
        self.by_position: dict[int, Any] = {}
        for index, position in function.positions.items():
            output = outputs[index]
            self.by_position[position] = output._base if index in function.through_base else output
        for position, hooks in call.hooks:
            self.by_position[position].register_hook(
                lambda gradient, hooks=hooks: _after_hooks(hooks, gradient)
            )

    def gradients(
        self, of_outputs: Sequence[Any], *, retain: bool, create: bool, inner: Sequence[int] = ()
    ) -> tuple[list[Any], list[Any]]:
        """From the gradients of the outputs those of the inputs, and of the outputs at the positions `inner`.

        None where eager has none.
        """
        import torch

        given = [
            (self.by_position[position], gradient)
            for position, gradient in enumerate(of_outputs)
            if gradient is not None and position in self.by_position
        ]
        wanted = [*self._trained.values(), *(self.by_position[position] for position in inner)]
        found: Sequence[Any] = [None] * len(wanted)
        if given and wanted:
            outputs, gradients = zip(*given, strict=True)
            with not_captured():
                found = torch.autograd.grad(
                    outputs, wanted, gradients, retain_graph=retain, create_graph=create, allow_unused=True
                )
        of_inputs: list[Any] = [None] * self._inputs
        for index, gradient in zip(self._trained, found, strict=False):
            of_inputs[index] = gradient
        return of_inputs, list(found[len(self._trained) :])


def _after_hooks(hooks: Any, gradient: Any) -> Any:
    """As torch calls a tensor's hooks: each may replace the gradient."""
    for hook in list(hooks.values()):
        replaced = hook(gradient)
        gradient = gradient if replaced is None else replaced
    return gradient

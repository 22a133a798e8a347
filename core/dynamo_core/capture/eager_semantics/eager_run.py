"""Running a captured graph in eager, out of the capture's sight."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ...backends.agreement import RandomState

_MOST_BYTES_CLONED = 16 << 20  # of what a graph changes in place: running statistics, not a cache of keys


class Unanswerable(Exception):
    """The call cannot be made again: its inputs are no longer what they were."""


@contextmanager
def not_captured() -> Iterator[None]:
    """No frame in here is offered to Dynamo.

    Source: torch/_dynamo/eval_frame.py (DisableContext), 2.8 to 2.15.
    """
    from torch._C._dynamo.eval_frame import set_eval_frame

    callback = set_eval_frame(None)
    try:
        yield
    finally:
        set_eval_frame(callback)


class Modes:
    """Autocast as it is now: a graph that runs again in the backward runs as it did in the forward."""

    def __init__(self, devices: Sequence[str]) -> None:
        import torch

        self._states = [
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
            for device in devices
            if torch.amp.is_autocast_available(device)
        ]

    @contextmanager
    def entered(self) -> Iterator[None]:
        """As it was, with gradients, for a while."""
        import torch

        with ExitStack() as stack:
            for device, enabled, dtype in self._states:
                stack.enter_context(torch.autocast(device, dtype=dtype, enabled=enabled, cache_enabled=False))
            stack.enter_context(torch.enable_grad())
            yield


class StateBefore:
    """What a call of a graph needs to be made again: generators, and clones of what it changes.

    Those are made up to a size, unless the call `must_be_possible` to make again.
    """

    def __init__(
        self, arguments: Sequence[Any], changed: Sequence[int], *, draws: bool, must_be_possible: bool = False
    ) -> None:
        self._arguments = arguments
        self.random_state = RandomState(arguments) if draws else None
        self._clones = _clones(arguments, changed, math.inf if must_be_possible else _MOST_BYTES_CLONED)

    def restore(self) -> None:
        """Put the inputs that were changed in place, and the generators, back to what they were.

        Unanswerable if that is not possible.
        """
        import torch

        if self._clones is None:
            raise Unanswerable
        with torch.no_grad():
            for index, clone in self._clones.items():
                self._arguments[index].copy_(clone)
        if self.random_state is not None:
            self.random_state.restore()

    def inputs_changed(self) -> dict[int, Any]:
        """Of the inputs that were changed, clones of what they were; Unanswerable if there are none."""
        if self._clones is None:
            raise Unanswerable
        return {index: clone.clone() for index, clone in self._clones.items()}


def _clones(arguments: Sequence[Any], changed: Sequence[int], most_bytes: float) -> dict[int, Any] | None:
    if not changed:
        return {}
    if sum(arguments[i].numel() * arguments[i].element_size() for i in changed) > most_bytes:
        return None
    return {index: arguments[index].detach().clone() for index in changed}


def run_in_eager(run: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The graph on the program's own inputs: what eager would have done, the same in every respect.

    Where it raises between two nodes that switch gradients off and on, they are as they were before.
    """
    import torch

    grad_enabled = torch.is_grad_enabled()
    with not_captured():
        try:
            return run(*arguments)
        except BaseException:
            torch._C._set_grad_enabled(grad_enabled)
            raise

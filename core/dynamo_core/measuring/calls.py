"""Calls of a compiled graph, forward and, where it trains, backward; and how long they take."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..backends.agreement import clone_with_aliases
from .compiled_graph import SEED, CompiledGraph

_LONG_ENOUGH = 2e-3  # seconds, for an estimate
_ESTIMATES = 3
_WARM_UP = 2e-3  # seconds: caches and threads are another process's when a batch begins


@dataclass(frozen=True)
class Values:
    """What a call left: its outputs, its inputs afterwards, and their gradients; each has a name."""

    names: Sequence[str]
    values: Sequence[Any]


def called(function: Callable[..., Any], inputs: Sequence[Any]) -> Values:
    """Call once on `inputs`, which may be changed in place, and ask for all gradients that there are."""
    import torch

    torch.manual_seed(SEED)
    outputs = _as_list(function(*inputs))
    found = [(f"output {i}", value) for i, value in enumerate(outputs)]
    gradients = _gradients(outputs, inputs)
    found += [(f"input {i} afterwards", value) for i, value in enumerate(inputs) if _is_tensor(value)]
    found += [(f"gradient of input {i}", value) for i, value in gradients.items()]
    return Values([name for name, _ in found], [value for _, value in found])


class TimedGraph:
    """A compiled graph that is called again and again on the same inputs.

    Inputs that a call changes in place are put back before each batch. `trains` says whether a call is
    forward and backward.
    """

    def __init__(self, compiled: CompiledGraph) -> None:
        import torch

        self._function = compiled.function
        self._inputs = clone_with_aliases(compiled.arguments)
        self._on_cuda = any(_is_tensor(value) and value.is_cuda for value in self._inputs)
        before = clone_with_aliases(self._inputs)
        versions = [value._version if _is_tensor(value) else None for value in self._inputs]
        outputs = _as_list(self._function(*self._inputs))
        self._positions = [i for i, value in enumerate(outputs) if _is_differentiable(value)]
        self._sources = [value for value in self._inputs if _is_tensor(value) and value.requires_grad]
        self.trains = bool(torch.is_grad_enabled() and self._positions and self._sources)
        self._tangents = [torch.ones_like(outputs[i]) for i in self._positions]
        self._changed = [
            (live, saved.detach())
            for live, saved, version in zip(self._inputs, before, versions, strict=True)
            if _is_tensor(live) and live._version != version
        ]
        del outputs
        self._call()  # compiles the backward, where it is compiled when first needed

    def estimate(self) -> float:
        """About how many seconds a call takes where nothing else slows it down."""
        calls = 1
        seconds = self._batch(calls)[0]
        while seconds * calls < _LONG_ENOUGH:
            calls *= 4
            seconds = self._batch(calls)[0]
        return min(seconds, *(self._batch(calls)[0] for _ in range(_ESTIMATES)))

    def batch(self, calls: int) -> tuple[float, float]:
        """Seconds of a call, and of its forward part, on average over `calls` of them, warm."""
        until = time.perf_counter() + _WARM_UP
        while True:
            self._call()
            if time.perf_counter() >= until:
                return self._batch(calls)

    def _batch(self, calls: int) -> tuple[float, float]:
        import torch

        with torch.no_grad():
            for live, saved in self._changed:
                live.copy_(saved)
        marks = []
        self._synchronize()
        began = time.perf_counter()
        for _ in range(calls):
            marks.append(self._call())
        self._synchronize()
        seconds = (time.perf_counter() - began) / calls
        if not self.trains:
            return seconds, seconds
        forward = sum(self._between(start, end) for start, end in marks) / calls
        return seconds, min(forward, seconds)

    def _call(self) -> tuple[Any, Any]:
        """Call once; when its forward part began and ended."""
        import torch

        if self._on_cuda:
            torch.compiler.cudagraph_mark_step_begin()  # what CUDA graphs returned before may be written over
        began = self._mark() if self.trains else None
        outputs = self._function(*self._inputs)
        if not self.trains:
            return began, None
        ended = self._mark()
        torch.autograd.grad(
            [outputs[i] for i in self._positions], self._sources, self._tangents, allow_unused=True
        )
        return began, ended

    def _mark(self) -> Any:
        if not self._on_cuda:
            return time.perf_counter()
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _between(self, began: Any, ended: Any) -> float:
        return float(began.elapsed_time(ended) / 1e3 if self._on_cuda else ended - began)

    def _synchronize(self) -> None:
        if self._on_cuda:
            import torch

            torch.cuda.synchronize()


def _gradients(outputs: Sequence[Any], inputs: Sequence[Any]) -> dict[int, Any]:
    """By the input's position. What flows back is drawn in float32, so that it is the same in every dtype."""
    import torch

    reached = [value for value in outputs if _is_differentiable(value)]
    wanted = {i: value for i, value in enumerate(inputs) if _is_tensor(value) and value.requires_grad}
    if not (torch.is_grad_enabled() and reached and wanted):
        return {}
    generator = torch.Generator().manual_seed(SEED)
    tangents = [
        torch.randn(value.shape, generator=generator, dtype=torch.float32).to(value) for value in reached
    ]
    found = torch.autograd.grad(reached, list(wanted.values()), tangents, allow_unused=True)
    return dict(zip(wanted, found, strict=True))


def _as_list(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_differentiable(value: Any) -> bool:
    return _is_tensor(value) and value.requires_grad and value.grad_fn is not None

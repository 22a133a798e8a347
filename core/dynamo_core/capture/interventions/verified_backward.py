"""`--verify`: the program's own backwards of calls that are compared, so that gradients are compared as well.

Hooks on the nodes of autograd that made a call's outputs note what flows into them. When a backward is over,
the call and its backwards are made again in copies of the process, from what flowed in here.

Source: torch/csrc/autograd/engine.cpp (queue_callback, whose callbacks are not called where a backward
raises), 2.8 to 2.15; run with 2.13.
"""

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

_MOST_WAITING = 8  # calls that wait for their backward, each with a copy of the process
Guard = Callable[[Callable[..., Any]], Callable[..., Any]]


class WaitingCall(Protocol):
    """A compared call whose outputs a backward may reach."""

    def changed_since(self) -> str | None:
        """What the program has changed since the call, of what its functions name; None if nothing."""

    def compare_backward(self, passes: Sequence[dict[str, Any]]) -> bool:
        """Compare the gradients after these passes; whether those after further ones are to be compared."""

    def finish(self) -> None:
        """Record what came of the call: no further backward can reach it."""


class WaitingCalls:
    """The calls of this process that wait for a backward."""

    def __init__(self, guarded: Guard) -> None:
        self._guarded = guarded
        self._calls: list[tuple[WaitingCall, weakref.ref[_Backward]]] = []

    def are_too_many(self) -> bool:
        """Whether no further call may wait."""
        return len(self._calls) >= _MOST_WAITING

    def add(self, call: WaitingCall, outputs: Iterable[tuple[str, Any]]) -> None:
        """Let a call wait for the backward of these outputs, each with its path."""
        backward = _Backward(self._guarded, call.changed_since, self._compare)
        self._calls.append((call, weakref.ref(backward)))
        backward.watch(outputs)

    def _compare(self, backward: "_Backward") -> None:
        for waiting in [*self._calls]:
            call, reference = waiting
            if reference() is backward and self._take(waiting) and call.compare_backward(backward.passes):
                self._calls.append(waiting)

    def _take(self, waiting: "tuple[WaitingCall, weakref.ref[_Backward]]") -> bool:
        """Take a call that waits for this thread alone; False where another thread has it."""
        try:
            self._calls.remove(waiting)
        except ValueError:
            return False
        return True

    def look(self, *, is_over: bool = False) -> None:
        """Compare the backwards that have raised; finish the calls that no backward can reach any more.

        Those are all if the process `is_over`.
        """
        for waiting in [*self._calls]:
            call, reference = waiting
            backward = reference()
            if backward is not None and (is_over or backward.is_of_this_thread()):
                backward.end_pass()
            if (is_over or backward is None) and self._take(waiting):
                call.finish()


class _Backward:
    """The passes of backwards through the outputs of one call, for as long as autograd has its nodes.

    A pass is what flowed into each output (`seeds`, by its path), whether it `keeps_graph` and
    `creates_graph`, whether autocast is on in it (`is_autocast`), whether it `is_of_gradients` that an
    earlier pass made, and whether it `has_ended` without an exception. Since the call, the outputs at the
    paths in `written` were written, the program has asked for the gradients of those in `kept`, and the value
    at the path `changed` has another value.
    """

    def __init__(
        self, guarded: Guard, changed_since: Callable[[], str | None], is_over: Callable[["_Backward"], None]
    ) -> None:
        self.passes: list[dict[str, Any]] = []
        self._guarded = guarded
        self._changed_since = changed_since
        self._versions: dict[str, tuple[weakref.ref[Any], int]] = {}  # of the outputs, as the call left them
        self._is_over = is_over
        self._task = -1
        self._thread = 0
        self._is_running = False

    def watch(self, outputs: Iterable[tuple[str, Any]]) -> None:
        """Put hooks on the nodes that made the outputs."""
        nodes: dict[Any, dict[int, str]] = {}
        for path, output in outputs:
            self._versions[path] = weakref.ref(output), output._version
            nodes.setdefault(output.grad_fn, {})[output.output_nr] = path
        for node, paths in nodes.items():
            node.register_prehook(self._guarded(partial(self._note, paths)))
            node.register_hook(self._guarded(self._watch_gradients))

    def is_of_this_thread(self) -> bool:
        """Whether the last pass began in this thread, so that it has raised if another call begins."""
        return self._thread == threading.get_ident()

    def _outputs(self) -> Iterator[tuple[str, Any, int]]:
        """The outputs that are still there, each with its path and the version that the call left."""
        for path, (reference, version) in self._versions.items():
            output = reference()
            if output is not None:
                yield path, output, version

    def _end_pass(self) -> None:
        self.passes[-1]["has_ended"] = True
        self.end_pass()

    def end_pass(self) -> None:
        """Have the pass that was running compared."""
        if self._is_running:
            self._is_running = False
            self._is_over(self)

    def _note(self, paths: dict[int, str], gradients: Sequence[Any]) -> None:
        """Before a node: what flows into its outputs."""
        try:
            seeds = {path: gradients[at].detach() for at, path in paths.items() if gradients[at] is not None}
        except RuntimeError:  # a batch of gradients (`is_grads_batched`), which cannot be given to a copy
            return
        self._pass(is_of_gradients=False)["seeds"].update(seeds)

    def _watch_gradients(self, gradients: Sequence[Any], _: Any) -> None:
        """After a node: gradients of its gradients are a pass as well."""
        made = {each.grad_fn for each in gradients if each is not None and each.grad_fn is not None}
        for node in made:
            node.register_prehook(self._guarded(self._note_gradients))

    def _note_gradients(self, _: Any) -> None:
        """Before a node that made a gradient."""
        self._pass(is_of_gradients=True)

    def _pass(self, *, is_of_gradients: bool) -> dict[str, Any]:
        import torch

        task = torch._C._current_graph_task_id()
        if task != self._task:
            self.end_pass()
            self._task, self._thread, self._is_running = task, threading.get_ident(), True
            self.passes.append(
                {
                    "seeds": {},
                    "keeps_graph": torch._C._autograd._get_current_graph_task_keep_graph(),
                    "creates_graph": torch.is_grad_enabled(),
                    "is_autocast": torch.is_autocast_enabled("cpu"),
                    "is_of_gradients": is_of_gradients,
                    "changed": self._changed_since(),
                    "written": [path for path, output, was in self._outputs() if output._version != was],
                    "kept": [path for path, output, _ in self._outputs() if _is_kept(output)],
                    "has_ended": False,
                }
            )
            engine: Any = torch.autograd.Variable._execution_engine
            engine.queue_callback(self._guarded(self._end_pass))
        return self.passes[-1]


def _is_kept(output: Any) -> bool:
    """Whether the program keeps the gradient of an output, or has a hook that is given it."""
    return output.retains_grad or bool(output._backward_hooks)

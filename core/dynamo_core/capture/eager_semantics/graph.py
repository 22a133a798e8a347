"""One graph of a captured program: the compiled graph is called, with eager as its fallback.

Eager computes the graph's calls and backwards where compiled code would give another result or error.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from ...backends.agreement import is_shielded
from ..errors import text_of
from .exception_handlers import HandledOperation
from .frame_fallback import RunFrameInEager
from .graph_facts import GraphFacts
from .inner_outputs import (
    complete_retained_gradients,
    intercept_hooks,
    note_inner_outputs,
    wants_inner_gradients,
)
from .observer import Notes
from .replay import (
    AotFunction,
    AutocastState,
    Call,
    CannotReplay,
    StateBefore,
    forget_call,
    is_aligned,
    node_of,
    note_call,
    run_in_eager,
    set_eager_node_names,
)

_MOST_RAISED = 3  # calls one after the other, before the frame is left to eager


def backward_reads_changed_input(
    outputs: Sequence[Any], arguments: Sequence[Any], in_place_hazards: Sequence[int]
) -> bool:
    """Whether a call saved for its backward one of the inputs that it changed in place, or a view of one.

    Eager's backward reads what the operations saved. AOTAutograd's may compute such a value again from an
    input of the graph, although the graph has written to that input since: the gradients are silently wrong.
    Source: torch/_functorch/partitioners.py (min_cut_rematerialization_partition, which does not know of the
    writes at a graph's end), torch/_functorch/_aot_autograd/runtime_wrappers.py (CompiledFunction.forward),
    read and run in 2.13; pytorch/pytorch pull request 197039.
    """
    node = node_of(outputs) if in_place_hazards else None
    if node is None:
        return False
    changed = {_memory(arguments[i]) for i in in_place_hazards if arguments[i].numel()}
    return any(_memory(value) in changed for value in _saved(node) if value is not None)


def _saved(node: Any) -> list[Any]:
    # Some versions of torch keep the tensors whose versions autograd must not check in a list of their own.
    return [*node.saved_tensors, *getattr(node, "_tensors_no_vc_check", ())]


def _memory(tensor: Any) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address


class GraphWithEagerFallback:
    """A compiled graph, what is known of it, and whether its calls now run in eager.

    `run` is the graph in eager. `trains` says that it was captured with gradients enabled. `handled` is an
    operation whose exceptions the frame handles: if the graph raises, the whole frame runs in eager.
    """

    def __init__(
        self,
        run: Callable[..., Any],
        facts: GraphFacts,
        notes: Notes,
        handled: HandledOperation | None = None,
    ) -> None:
        import torch

        self.run = run
        self.facts = facts
        self.trains = torch.is_grad_enabled()
        self.modes = AutocastState(facts.devices)
        self.function: AotFunction | None = None
        self.watched_inputs: list[int] = []
        self._trained: frozenset[int] = frozenset()
        self._notes = notes
        self._handled = handled
        self._raised = 0  # calls that raised one after the other, so that the frame ran in eager
        self._falls_back = facts.unsupported is not None
        self._draws: bool | None = None  # whether it draws random numbers; None before the first call
        self._inputs_without_gradient: dict[tuple[int, ...], frozenset[int]] = {}  # by missing gradients
        self._lock = threading.Lock()
        if facts.unsupported is not None:
            notes.add(facts.unsupported, "eager")

    @property
    def is_left_to_eager(self) -> bool:
        """Whether the graph's calls run in eager from now on."""
        return self._falls_back

    def leave_to_eager(self, kind: str, **detail: Any) -> None:
        """Run the graph's calls in eager from now on, and record why."""
        self._falls_back = True
        self._notes.add(kind, "eager", **detail)

    def wrap(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """The function to call instead of `compiled`, which the backend returned."""
        if self._falls_back:
            return self._run_in_eager

        def graph_with_fallback(*arguments: Any) -> Any:
            if self._falls_back or _is_observed(self.trains):
                return self._run_in_eager(*arguments)
            if is_shielded():  # our own run of the compiled code, for comparison
                return compiled(*arguments)
            try:
                before = self._state_before(arguments)
            except Exception as error:
                self._stop_after_failure(error)
                return self._run_in_eager(*arguments)
            try:
                outputs = compiled(*arguments)
            except Exception as error:
                failure = error.with_traceback(None)  # it would keep the arguments alive
            else:
                self._raised = 0
                try:
                    if not self._must_replay_first_call(outputs, arguments, before):
                        return self._finish_forward(outputs, arguments, before)
                except Exception as error:
                    self._stop_after_failure(error)
                    return outputs
                return self._run_in_eager(*arguments)
            return self._retry_in_eager(failure, arguments, before)

        return graph_with_fallback

    def _stop_after_failure(self, error: BaseException) -> None:
        """Run in eager from now on: this torch does not work as the code here expects."""
        self._notes.failed(error)
        self._falls_back = True

    def _finish_forward(self, outputs: Any, arguments: Sequence[Any], before: StateBefore | None) -> Any:
        """The compiled graph's outputs as the program receives them, with their backward prepared."""
        if self.facts.passed_through:
            outputs = self._restore_input_identity(self.as_list(outputs), arguments)
        if self.trains:
            self._prepare_backward(arguments, self.as_list(outputs), before)
        return outputs

    def _must_replay_first_call(
        self, outputs: Any, arguments: Sequence[Any], before: StateBefore | None
    ) -> bool:
        """Whether the first call has to run again in eager, since its compiled gradients would be wrong.

        If so, changed inputs and random number generators are restored to their state before the call.
        """
        if self._draws is not None:
            return False
        self._learn_from_first_call(arguments, before)
        if not self.trains or not backward_reads_changed_input(
            self.as_list(outputs), arguments, self.facts.in_place_hazards
        ):
            return False
        self._falls_back = True
        if self.facts.communicates:
            self._notes.add("overwritten", "compiled")
            return False
        assert before is not None  # the graph changes an input
        before.restore()
        self._notes.add("overwritten", "eager")
        return True

    def as_list(self, outputs: Any) -> list[Any]:
        """The graph's outputs as a list: a backend may return a tuple, a list or a single output."""
        return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    def _restore_input_identity(self, outputs: list[Any], arguments: Sequence[Any]) -> list[Any]:
        """The outputs, with each one that merely aliases an input replaced by that input."""
        for output, input_, is_certain in self.facts.passed_through:
            if is_certain or _is_same_view(outputs[output], arguments[input_]):
                outputs[output] = arguments[input_]
        return outputs

    def _run_in_eager(self, *arguments: Any) -> Any:
        if self._handled is not None:
            raise RunFrameInEager
        return run_in_eager(self.run, arguments)

    def _state_before(self, arguments: Sequence[Any]) -> StateBefore | None:
        if self._draws is False and not self.facts.changed:
            return None
        return StateBefore(
            arguments,
            self.facts.changed,
            draws=self._draws is not False,
            is_required=self._handled is not None
            or (self._draws is None and self.trains and bool(self.facts.in_place_hazards)),
        )

    def _learn_from_first_call(self, arguments: Sequence[Any], before: StateBefore | None) -> None:
        import torch

        changed = set(self.facts.changed)
        self.watched_inputs = [
            i
            for i, value in enumerate(arguments)
            if i not in changed and isinstance(value, torch.Tensor) and not value.is_inference()
        ]
        assert before is not None and before.random_state is not None  # it is the first call
        self._draws = before.random_state.has_changed()
        if not self._draws:
            before.random_state = None

    def _retry_in_eager(
        self, failure: Exception, arguments: Sequence[Any], before: StateBefore | None
    ) -> Any:
        """The result in eager of a call that failed when compiled; eager's exception if that fails too."""
        try:
            if self.facts.communicates:
                raise CannotReplay
            if before is not None:
                before.restore()
        except CannotReplay:
            raise failure from None
        error = text_of(failure)
        if self._handled is not None:
            self._run_frame_in_eager(self._handled, error)
        try:
            outputs = self._run_in_eager(*arguments)
        except Exception as eager_error:
            if text_of(eager_error) != error:
                self._notes.add("exception", "eager", compiled=error, eager=text_of(eager_error))
            raise
        self.leave_to_eager("exception", compiled=error, eager=None)
        return outputs

    def _run_frame_in_eager(self, handled: HandledOperation, error: str) -> NoReturn:
        """Let the frame begin anew in eager; for good, once every call has raised for some time."""
        self._raised += 1
        self._falls_back = self._raised >= _MOST_RAISED
        self._notes.add(
            "caught_exception", "eager", compiled=error, **self._notes.at((handled.file, handled.line))
        )
        raise RunFrameInEager

    def _prepare_backward(
        self, arguments: Sequence[Any], outputs: list[Any], before: StateBefore | None
    ) -> None:
        """Remember the call on its autograd node, for its backward."""
        node = node_of(outputs)
        if node is None:
            return
        if self.function is None and not self._replace_backward(node, arguments, outputs):
            return
        assert self.function is not None
        if not self.function.owns(node):
            return
        call = Call(self, arguments, before)
        note_call(node, call)
        if self.facts.inner:
            note_inner_outputs(call, outputs)

    def _replace_backward(self, node: Any, arguments: Sequence[Any], outputs: list[Any]) -> bool:
        with self._lock:
            if self.function is not None:
                return True
            if not is_aligned(node, arguments):
                self.leave_to_eager("other_inputs")
                return False
            function = AotFunction(node, outputs)
            function.replace_backward(self._backward)
            if len(function.positions) > 1:
                intercept_hooks(type(node))
            names = self.facts.node_names
            set_eager_node_names(
                type(node),
                {
                    p: names[i]
                    for i, p in function.positions.items()
                    if i in names and i not in function.through_base
                },
            )
            self._trained = frozenset(i for i, needs in enumerate(node.needs_input_grad) if needs)
            self.function = function
            return True

    def _backward(self, node: Any, call: Call, gradients: list[Any]) -> Any:
        """The gradients of the graph's inputs from those of the node's outputs; torch calls this."""
        import torch

        function = self.function
        assert function is not None
        create = torch.is_grad_enabled()
        retain = torch._C._autograd._get_current_graph_task_keep_graph()
        missing = tuple(position for position in call.positions() if gradients[position] is None)
        reason = self._reason_for_eager(call, create, missing)
        if reason is None:
            return self._compiled_backward(node, call, gradients, missing, retain)
        try:
            return self._eager_backward(call, gradients, missing, reason, retain=retain, create=create)
        except CannotReplay:
            self._notes.add(reason, "compiled")
            return function.original(node, gradients)

    def _reason_for_eager(self, call: Call, create: bool, missing: tuple[int, ...]) -> str | None:
        import torch

        if wants_inner_gradients(call):
            return "inner_gradient"
        if create or torch._C._functorch.peek_interpreter_stack() is not None:
            return "double_backward"
        if call.is_spent:
            return "second_backward"
        return "unused_output" if missing and missing not in self._inputs_without_gradient else None

    def _compiled_backward(
        self, node: Any, call: Call, gradients: list[Any], missing: tuple[int, ...], retain: bool
    ) -> Any:
        function = self.function
        assert function is not None
        try:
            result = list(function.original(node, list(gradients)))
        except Exception as error:
            failure = error.with_traceback(None)
        else:
            if missing and not self._are_covered(missing) and not _are_finite(result):
                # Zeros for missing gradients, times infinity, give NaN; eager does not multiply there.
                with suppress(CannotReplay):
                    return self._eager_backward(
                        call, gradients, missing, "unused_output", retain=retain, create=False
                    )
            call.is_spent = not retain
            if not retain and (not missing or self._are_covered(missing)):
                forget_call(node)  # eager would have freed its saved tensors too
            for index in self._inputs_without_gradient.get(missing, ()):
                result[index] = None
            return tuple(result)
        try:
            answer = self._eager_backward(call, gradients, missing, "exception", retain=retain, create=False)
        except CannotReplay:
            raise failure from None
        self.leave_to_eager("exception", compiled=text_of(failure), eager=None)
        return answer

    def _eager_backward(
        self,
        call: Call,
        gradients: list[Any],
        missing: tuple[int, ...],
        reason: str,
        *,
        retain: bool,
        create: bool,
    ) -> tuple[Any, ...]:
        """Eager's gradients of the inputs; CannotReplay if the graph cannot run again on the same inputs."""
        replay = call.replayed()
        inner = [position for position, _ in call.inner]
        # Gradients of gradients go back through this replay's graph again.
        call.is_differentiated |= create
        result, inner_gradients = replay.gradients(
            gradients, retain=retain or call.is_differentiated, create=create, inner=inner
        )
        call.is_spent |= not retain
        complete_retained_gradients(call, gradients, inner_gradients)
        if reason == "unused_output":
            unreached = frozenset(i for i, gradient in enumerate(result) if gradient is None)
            self._inputs_without_gradient[missing] = unreached
            self._record_unused_outputs(missing, unreached)
        elif reason != "exception":
            self.leave_to_eager(reason)
        return tuple(result)

    def _record_unused_outputs(self, missing: tuple[int, ...], unreached: frozenset[int]) -> None:
        """Record which outputs no loss used, if that leaves trained inputs without a gradient in eager."""
        without = sorted(unreached & self._trained)
        if not without:
            return
        function = self.function
        assert function is not None
        unused = [i for i, position in function.positions.items() if position in missing]
        self._notes.unused_output("eager", self.facts, unused, [self.facts.inputs[i] for i in without])

    def _are_covered(self, missing: tuple[int, ...]) -> bool:
        """Whether every output without a gradient is an ancestor of an output that has one."""
        function = self.function
        assert function is not None
        used = [i for i, position in function.positions.items() if position not in missing]
        ancestors = frozenset[int]().union(*(self.facts.ancestors[i] for i in used))
        return all(i in ancestors for i, position in function.positions.items() if position in missing)


def _is_observed(trains: bool) -> bool:
    """Whether the program observes each operation, or each step of autograd.

    It does so by a dispatch mode, forward-mode AD, hooks on saved tensors (checkpointing, offloading) or
    anomaly mode.
    """
    import torch

    if torch._C._len_torch_dispatch_stack() or torch.autograd.forward_ad._current_level >= 0:
        return True
    return trains and (
        torch.is_anomaly_enabled() or torch._C._autograd._top_saved_tensors_default_hooks(False) is not None
    )


def _is_same_view(value: Any, other: Any) -> bool:
    return bool(
        value.data_ptr() == other.data_ptr()
        and value.dtype == other.dtype
        and value.size() == other.size()
        and value.stride() == other.stride()
    )


def _are_finite(gradients: Sequence[Any]) -> bool:
    import torch

    return all(
        bool(torch.isfinite(gradient).all()) for gradient in gradients if isinstance(gradient, torch.Tensor)
    )

"""A graph of a captured program with eager as its fallback: the compiled graph is called, and eager does
what compiled code cannot do.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ...backends.agreement import is_shielded
from .graph_facts import GraphFacts
from .inner_outputs import (
    complete_retained_gradients,
    intercept_hooks,
    note_inner_outputs,
    wants_inner_gradient,
)
from .observer import Notes
from .replay import (
    AotFunction,
    Call,
    CannotReplay,
    Modes,
    StateBefore,
    forget_call,
    is_aligned,
    node_of,
    note_call,
    note_eager_node_names,
    run_in_eager,
)


def has_in_place_hazard(outputs: Sequence[Any], arguments: Sequence[Any], overwritten: Sequence[int]) -> bool:
    """Whether a call saved for its backward one of the inputs that it changed in place, or a view of one.

    Eager's backward reads what the operations saved. AOTAutograd's may compute such a value again, from an
    input of the graph, although the graph has written into that input since: the gradients are wrong, and
    silently. Source: torch/_functorch/partitioners.py (min_cut_rematerialization_partition, which knows
    nothing of the writes at a graph's end), torch/_functorch/_aot_autograd/runtime_wrappers.py
    (CompiledFunction.forward), read and run in 2.13; pytorch/pytorch pull request 197039.
    """
    node = node_of(outputs) if overwritten else None
    if node is None:
        return False
    changed = {_memory(arguments[i]) for i in overwritten if arguments[i].numel()}
    return any(_memory(value) in changed for value in _saved_tensors(node) if value is not None)


def _saved_tensors(node: Any) -> list[Any]:
    # Some versions of torch keep tensors apart whose version counters autograd must not check.
    return [*node.saved_tensors, *getattr(node, "_tensors_no_vc_check", ())]


def _memory(tensor: Any) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address


class GraphWithEagerFallback:
    """One graph: what is known of it, and whether all of its calls run in eager by now.

    `run` is the graph in eager; `trains` says that it was captured with gradients enabled.
    """

    def __init__(self, run: Callable[..., Any], facts: GraphFacts, notes: Notes) -> None:
        import torch

        self.run = run
        self.facts = facts
        self.trains = torch.is_grad_enabled()
        self.modes = Modes(facts.devices)
        self.function: AotFunction | None = None
        self.watched_inputs: list[int] = []
        self._trained: frozenset[int] = frozenset()
        self._notes = notes
        self._runs_eager = facts.unfit is not None
        self._draws: bool | None = None  # whether it draws random numbers; None before the first call
        # The inputs that get no gradient, by the outputs that got none.
        self._unreached: dict[tuple[int, ...], frozenset[int]] = {}
        self._lock = threading.Lock()
        if facts.unfit is not None:
            notes.add(facts.unfit, "eager")

    @property
    def runs_eager(self) -> bool:
        """Whether its calls run in eager from now on."""
        return self._runs_eager

    def fall_back(self, kind: str, **detail: Any) -> None:
        """Run its calls in eager from now on, and record why."""
        self._runs_eager = True
        self._notes.add(kind, "eager", **detail)

    def around(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """The callable that takes the place of what the backend returned."""
        if self._runs_eager:
            return self._call_in_eager

        def graph_with_fallback(*arguments: Any) -> Any:
            if self._runs_eager or _is_watched(self.trains):
                return self._call_in_eager(*arguments)
            if is_shielded():  # a run of ours, which compares what was compiled
                return compiled(*arguments)
            try:
                before = self._state_before(arguments)
            except Exception as error:
                self._fall_back_after_failure(error)
                return self._call_in_eager(*arguments)
            try:
                outputs = compiled(*arguments)
            except Exception as error:
                failure = error.with_traceback(None)  # which holds this frame, and with it the arguments
            else:
                try:
                    if not self._must_rerun_in_eager(outputs, arguments, before):
                        return self._finish_call(outputs, arguments, before)
                except Exception as error:
                    self._fall_back_after_failure(error)
                    return outputs
                return self._call_in_eager(*arguments)
            return self._rerun_failed_call(failure, arguments, before)

        return graph_with_fallback

    def _fall_back_after_failure(self, error: BaseException) -> None:
        """Run in eager from now on: this torch differs from those known here, and eager needs none of this."""
        self._notes.failed(error)
        self._runs_eager = True

    def _finish_call(self, outputs: Any, arguments: Sequence[Any], before: StateBefore | None) -> Any:
        """The outputs for the program, from those of the compiled graph; its backward is watched."""
        if self.facts.passed_on:
            outputs = self._put_inputs_back(self.as_list(outputs), arguments)
        if self.trains:
            self._watch(arguments, self.as_list(outputs), before)
        return outputs

    def _must_rerun_in_eager(
        self, outputs: Any, arguments: Sequence[Any], before: StateBefore | None
    ) -> bool:
        """After the first call: whether its gradients would be wrong. If so, the state before it is restored."""
        if self._draws is not None:
            return False
        self._learn_from_first_call(arguments, before)
        if not self.trains or not has_in_place_hazard(
            self.as_list(outputs), arguments, self.facts.overwritten
        ):
            return False
        self._runs_eager = True
        if self.facts.communicates:
            self._notes.add("overwritten", "compiled")
            return False
        assert before is not None  # the graph changes an input, so its state was kept
        before.restore()
        self._notes.add("overwritten", "eager")
        return True

    def as_list(self, outputs: Any) -> list[Any]:
        """A graph's outputs as a list; a backend may return a tuple, a list or a single value."""
        return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    def _put_inputs_back(self, outputs: list[Any], arguments: Sequence[Any]) -> list[Any]:
        """The outputs, where an input that is passed on is the program's own tensor, not an alias of it."""
        for output, input_, is_certain in self.facts.passed_on:
            if is_certain or _is_alias(outputs[output], arguments[input_]):
                outputs[output] = arguments[input_]
        return outputs

    def _call_in_eager(self, *arguments: Any) -> Any:
        return run_in_eager(self.run, arguments)

    def _state_before(self, arguments: Sequence[Any]) -> StateBefore | None:
        if self._draws is False and not self.facts.changed:
            return None
        return StateBefore(
            arguments,
            self.facts.changed,
            draws=self._draws is not False,
            must_restore=self._draws is None and self.trains and bool(self.facts.overwritten),
        )

    def _learn_from_first_call(self, arguments: Sequence[Any], before: StateBefore | None) -> None:
        import torch

        changed = set(self.facts.changed)
        self.watched_inputs = [
            i
            for i, value in enumerate(arguments)
            if i not in changed and isinstance(value, torch.Tensor) and not value.is_inference()
        ]
        assert before is not None and before.random_state is not None  # always kept for the first call
        self._draws = before.random_state.has_changed()
        if not self._draws:
            before.random_state = None

    def _rerun_failed_call(
        self, failure: Exception, arguments: Sequence[Any], before: StateBefore | None
    ) -> Any:
        """Make a call again in eager in which the compiled graph raised; `failure` if that is not possible."""
        try:
            if self.facts.communicates:
                raise CannotReplay
            if before is not None:
                before.restore()
        except CannotReplay:
            raise failure from None
        error = _described(failure)
        try:
            outputs = self._call_in_eager(*arguments)
        except Exception as eager_error:
            if _described(eager_error) != error:
                self._notes.add("exception", "eager", compiled=error, eager=_described(eager_error))
            raise
        self.fall_back("exception", compiled=error, eager=None)
        return outputs

    def _watch(self, arguments: Sequence[Any], outputs: list[Any], before: StateBefore | None) -> None:
        """Note the call on its autograd node, so that `_backward` runs in place of the compiled backward."""
        node = node_of(outputs)
        if node is None:
            return
        if self.function is None and not self._take_over(node, arguments, outputs):
            return
        assert self.function is not None
        if not self.function.owns(node):
            return
        call = Call(self, arguments, before)
        note_call(node, call)
        if self.facts.inner:
            note_inner_outputs(call, outputs)

    def _take_over(self, node: Any, arguments: Sequence[Any], outputs: list[Any]) -> bool:
        with self._lock:
            if self.function is not None:
                return True
            if not is_aligned(node, arguments):
                self.fall_back("other_inputs")
                return False
            function = AotFunction(node, outputs)
            function.take_over(self._backward)
            if len(function.positions) > 1:
                intercept_hooks(type(node))
            names = self.facts.node_names
            note_eager_node_names(
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
        """The gradients of the graph's inputs, given those of the node's outputs; torch calls this."""
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
        """The kind of difference for which this backward must run in eager; None if compiled code will do."""
        import torch

        if wants_inner_gradient(call):
            return "inner_gradient"
        if create or torch._C._functorch.peek_interpreter_stack() is not None:
            return "double_backward"
        if call.is_spent:
            return "second_backward"
        return "unused_output" if missing and missing not in self._unreached else None

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
            if missing and not self._are_zeros_harmless(missing) and not _are_finite(result):
                # A zero gradient times infinity is NaN, where eager does not multiply at all.
                with suppress(CannotReplay):
                    return self._eager_backward(
                        call, gradients, missing, "unused_output", retain=retain, create=False
                    )
            call.is_spent = not retain
            if not retain and (not missing or self._are_zeros_harmless(missing)):
                forget_call(node)  # eager has freed what it saved, so it has no second backward either
            for index in self._unreached.get(missing, ()):
                result[index] = None
            return tuple(result)
        try:
            result_in_eager = self._eager_backward(
                call, gradients, missing, "exception", retain=retain, create=False
            )
        except CannotReplay:
            raise failure from None
        self.fall_back("exception", compiled=_described(failure), eager=None)
        return result_in_eager

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
        """The gradients that eager gives; CannotReplay if the graph cannot run again on the same inputs."""
        replay = call.replayed()
        inner = [position for position, _ in call.inner]
        # Gradients of gradients flow through this replay's graph, so it must be retained.
        call.is_differentiated |= create
        result, inner_gradients = replay.gradients(
            gradients, retain=retain or call.is_differentiated, create=create, inner=inner
        )
        call.is_spent |= not retain
        complete_retained_gradients(call, gradients, inner_gradients)
        if reason == "unused_output":
            unreached = frozenset(i for i, gradient in enumerate(result) if gradient is None)
            self._unreached[missing] = unreached
            self._note_unused(missing, unreached)
        elif reason != "exception":
            self.fall_back(reason)
        return tuple(result)

    def _note_unused(self, missing: tuple[int, ...], unreached: frozenset[int]) -> None:
        """Record which outputs no loss used, if some inputs have no gradient in eager because of that."""
        without_gradient = sorted(unreached & self._trained)
        if not without_gradient:
            return
        function = self.function
        assert function is not None
        unused = [i for i, position in function.positions.items() if position in missing]
        inputs = [self.facts.inputs[i] for i in without_gradient]
        self._notes.unused_output("eager", self.facts, unused, inputs)

    def _are_zeros_harmless(self, missing: tuple[int, ...]) -> bool:
        """Whether zeros in place of the missing gradients change nothing: other gradients flow the same way."""
        function = self.function
        assert function is not None
        used = [i for i, position in function.positions.items() if position not in missing]
        behind = frozenset[int]().union(*(self.facts.behind[i] for i in used))
        return all(i in behind for i, position in function.positions.items() if position in missing)


def _is_watched(trains: bool) -> bool:
    """Whether the program sees each operation, or each step of autograd.

    It does by a dispatch mode, by forward-mode AD, by hooks on what autograd saves (checkpointing,
    offloading), and by anomaly mode.
    """
    import torch

    if torch._C._len_torch_dispatch_stack() or torch.autograd.forward_ad._current_level >= 0:
        return True
    return trains and (
        torch.is_anomaly_enabled() or torch._C._autograd._top_saved_tensors_default_hooks(False) is not None
    )


def _is_alias(value: Any, other: Any) -> bool:
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


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # exceptions can have any `__str__`
        return type(error).__name__

"""A graph of a captured program: the compiled graph is called, and eager answers what it cannot do."""

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

# Inputs that a graph changes in place, and whose earlier values its compiled backward would read: too late.
#
# Eager's backward reads what the operations saved. AOTAutograd's may compute such a value again, from an
# input of the graph, although the graph has written into that input since: the gradients are wrong, and
# silently. Source: torch/_functorch/partitioners.py (min_cut_rematerialization_partition, which knows nothing
# of the writes at a graph's end), torch/_functorch/_aot_autograd/runtime_wrappers.py
# (CompiledFunction.forward), read and run in 2.13; pytorch/pytorch pull request 197039.


def backward_reads_changed_input(
    outputs: Sequence[Any], arguments: Sequence[Any], overwritten: Sequence[int]
) -> bool:
    """After a call: whether it saved for its backward one of the inputs that it changed, or a view of one."""
    node = node_of(outputs) if overwritten else None
    if node is None:
        return False
    changed = {_memory(arguments[i]) for i in overwritten if arguments[i].numel()}
    return any(_memory(value) in changed for value in _saved(node) if value is not None)


def _saved(node: Any) -> list[Any]:
    # Some torches keep those aside whose versions autograd is not to check.
    return [*node.saved_tensors, *getattr(node, "_tensors_no_vc_check", ())]


def _memory(tensor: Any) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address


# A graph of a captured program:


class GraphWithEagerFallback:
    """One graph: what is known of it, and whether it has been left to eager.

    `run` is the graph in eager; `trains` says that it was captured with gradients enabled.
    """

    def __init__(self, run: Callable[..., Any], facts: GraphFacts, notes: Notes) -> None:
        import torch

        self.run = run
        self.facts = facts
        self.trains = torch.is_grad_enabled()
        self.modes = AutocastState(facts.devices)
        self.function: AotFunction | None = None
        self.watched_inputs: list[int] = []
        self._trained: frozenset[int] = frozenset()
        self._notes = notes
        self._is_left = facts.unsupported is not None
        self._draws: bool | None = None  # random numbers; not known before the first call
        self._unreached: dict[tuple[int, ...], frozenset[int]] = {}  # by the outputs without a gradient
        self._lock = threading.Lock()
        if facts.unsupported is not None:
            notes.add(facts.unsupported, "eager")

    @property
    def is_left_to_eager(self) -> bool:
        """Whether its calls run in eager from now on."""
        return self._is_left

    def leave_to_eager(self, kind: str, **detail: Any) -> None:
        """Run its calls in eager from now on, and record why."""
        self._is_left = True
        self._notes.add(kind, "eager", **detail)

    def wrap(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """What is called in place of what the backend made."""
        if self._is_left:
            return self._in_eager

        def kept_graph(*arguments: Any) -> Any:
            if self._is_left or _is_watched(self.trains):
                return self._in_eager(*arguments)
            if is_shielded():  # a run of ours, which compares what was compiled
                return compiled(*arguments)
            try:
                before = self._state_before(arguments)
            except Exception as error:
                self._give_up(error)
                return self._in_eager(*arguments)
            try:
                outputs = compiled(*arguments)
            except Exception as error:
                failure = error.with_traceback(None)  # which holds this frame, and with it the arguments
            else:
                try:
                    if not self._is_to_be_made_again(outputs, arguments, before):
                        return self._returned(outputs, arguments, before)
                except Exception as error:
                    self._give_up(error)
                    return outputs
                return self._in_eager(*arguments)
            return self._answer(failure, arguments, before)

        return kept_graph

    def _give_up(self, error: BaseException) -> None:
        """torch is not as we know it: what needs no care of ours is eager."""
        self._notes.failed(error)
        self._is_left = True

    def _returned(self, outputs: Any, arguments: Sequence[Any], before: StateBefore | None) -> Any:
        """What the program gets of what the compiled graph returned."""
        if self.facts.passed_through:
            outputs = self._with_inputs_themselves(self.as_list(outputs), arguments)
        if self.trains:
            self._watch(arguments, self.as_list(outputs), before)
        return outputs

    def _is_to_be_made_again(
        self, outputs: Any, arguments: Sequence[Any], before: StateBefore | None
    ) -> bool:
        """After its first call: whether its gradients would be wrong. All is then as before the call."""
        if self._draws is not None:
            return False
        self._learn_from_first_call(arguments, before)
        if not self.trains or not backward_reads_changed_input(
            self.as_list(outputs), arguments, self.facts.in_place_hazards
        ):
            return False
        self._is_left = True
        if self.facts.communicates:
            self._notes.add("overwritten", "compiled")
            return False
        assert before is not None  # it changes something
        before.restore()
        self._notes.add("overwritten", "eager")
        return True

    def as_list(self, outputs: Any) -> list[Any]:
        """A graph's outputs; a backend may give them as a tuple or a list."""
        return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    def _with_inputs_themselves(self, outputs: list[Any], arguments: Sequence[Any]) -> list[Any]:
        """The outputs; in place of one that is nothing but an input, that input."""
        for output, input_, is_certain in self.facts.passed_through:
            if is_certain or _is_alias(outputs[output], arguments[input_]):
                outputs[output] = arguments[input_]
        return outputs

    def _in_eager(self, *arguments: Any) -> Any:
        return run_in_eager(self.run, arguments)

    def _state_before(self, arguments: Sequence[Any]) -> StateBefore | None:
        if self._draws is False and not self.facts.changed:
            return None
        return StateBefore(
            arguments,
            self.facts.changed,
            draws=self._draws is not False,
            must_be_possible=self._draws is None and self.trains and bool(self.facts.in_place_hazards),
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

    def _answer(self, failure: Exception, arguments: Sequence[Any], before: StateBefore | None) -> Any:
        """In eager, what the compiled graph raised at."""
        try:
            if self.facts.communicates:
                raise CannotReplay
            if before is not None:
                before.restore()
        except CannotReplay:
            raise failure from None
        error = _described(failure)
        try:
            outputs = self._in_eager(*arguments)
        except Exception as eagers:
            if _described(eagers) != error:
                self._notes.add("exception", "eager", compiled=error, eager=_described(eagers))
            raise
        self.leave_to_eager("exception", compiled=error, eager=None)
        return outputs

    def _watch(self, arguments: Sequence[Any], outputs: list[Any], before: StateBefore | None) -> None:
        """Be there when autograd comes back to this call."""
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
        """The gradients of the graph's inputs, from those of the node's outputs; torch calls this."""
        import torch

        function = self.function
        assert function is not None
        create = torch.is_grad_enabled()
        retain = torch._C._autograd._get_current_graph_task_keep_graph()
        missing = tuple(position for position in call.positions() if gradients[position] is None)
        why = self._why_eager(call, create, missing)
        if why is None:
            return self._compiled_backward(node, call, gradients, missing, retain)
        try:
            return self._eager_backward(call, gradients, missing, why, retain=retain, create=create)
        except CannotReplay:
            self._notes.add(why, "compiled")
            return function.original(node, gradients)

    def _why_eager(self, call: Call, create: bool, missing: tuple[int, ...]) -> str | None:
        import torch

        if wants_inner_gradients(call):
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
            if missing and not self._is_harmless(missing) and not _are_finite(result):
                # Zero times infinity, where eager does not multiply at all.
                with suppress(CannotReplay):
                    return self._eager_backward(
                        call, gradients, missing, "unused_output", retain=retain, create=False
                    )
            call.is_spent = not retain
            if not retain and (not missing or self._is_harmless(missing)):
                forget_call(node)  # eager has freed what it saved, and could not come back either
            for index in self._unreached.get(missing, ()):
                result[index] = None
            return tuple(result)
        try:
            answer = self._eager_backward(call, gradients, missing, "exception", retain=retain, create=False)
        except CannotReplay:
            raise failure from None
        self.leave_to_eager("exception", compiled=_described(failure), eager=None)
        return answer

    def _eager_backward(
        self,
        call: Call,
        gradients: list[Any],
        missing: tuple[int, ...],
        why: str,
        *,
        retain: bool,
        create: bool,
    ) -> tuple[Any, ...]:
        """What eager gives; CannotReplay if the graph cannot run again on the same inputs."""
        replay = call.replayed()
        inner = [position for position, _ in call.inner]
        # What gradients of gradients go back through is this replay's graph as well.
        call.is_differentiated |= create
        result, of_inner = replay.gradients(
            gradients, retain=retain or call.is_differentiated, create=create, inner=inner
        )
        call.is_spent |= not retain
        complete_retained_gradients(call, gradients, of_inner)
        if why == "unused_output":
            unreached = frozenset(i for i, gradient in enumerate(result) if gradient is None)
            self._unreached[missing] = unreached
            self._note_unused(missing, unreached)
        elif why != "exception":
            self.leave_to_eager(why)
        return tuple(result)

    def _note_unused(self, missing: tuple[int, ...], unreached: frozenset[int]) -> None:
        """Record which outputs no loss used, where the gradients of some inputs are None in eager for it."""
        without = sorted(unreached & self._trained)
        if not without:
            return
        function = self.function
        assert function is not None
        unused = [i for i, position in function.positions.items() if position in missing]
        self._notes.unused_output("eager", self.facts, unused, [self.facts.inputs[i] for i in without])

    def _is_harmless(self, missing: tuple[int, ...]) -> bool:
        """Whether what the missing gradients would flow through, others flow through as well."""
        function = self.function
        assert function is not None
        used = [i for i, position in function.positions.items() if position not in missing]
        behind = frozenset[int]().union(*(self.facts.ancestors[i] for i in used))
        return all(i in behind for i, position in function.positions.items() if position in missing)


def _is_watched(trains: bool) -> bool:
    """Whether the program sees each operation, or each step of autograd.

    By a dispatch mode, in forward mode, by what autograd saves (checkpointing, offloading), by anomaly mode.
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

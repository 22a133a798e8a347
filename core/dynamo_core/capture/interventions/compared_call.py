"""One call of the program that is compared with plain Python, and what is recorded of it."""

import io
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any, Protocol

from ...backends.agreement import shielded
from ...shared.names import MORE_EXACT, ROUNDED_OTHERWISE
from ...shared.validation import if_recorded
from ..errors import text_of
from ..forking import has_other_threads
from ..frames.program_files import is_own
from ..primitives import perf_counter_ns
from ..probes.graphs import backend_name, inner_backend
from .call_in_copy import (
    ALL_VALUES,
    AS_CAPTURED,
    COMPILED,
    EAGER,
    FILLED,
    LINES,
    OPERATIONS,
    ROUNDED,
    STAGE,
    WITH_CASTS,
    WITH_DYNAMIC,
    ProgramCall,
    Versions,
    saved,
    tensors_in,
)
from .eager_first import EagerFirst
from .fork_server import ForkServer, NoAnswer, NoAnswerInTime, available_bytes
from .observed_state import RAISED, RESULT, TENSOR, VALUE, Leaves, python_values
from .operation_log import first_cast_to_short
from .printed_text import NOT_NOTED
from .state_difference import (
    MINOR,
    OUTPUT,
    Compared,
    Difference,
    compare_leaves,
    largest_of_unequal,
    needs_untouched_values,
)
from .verified_backward import WaitingCalls
from .verified_call import COMPARED, OWN_RANDOM_NUMBERS
from .verify_budget import VerifyBudget
from .wrong_place import (
    STAGES,
    STALE,
    TRACING,
    place_of,
    printed_at,
    raised_at,
    traced_otherwise,
    undeclared,
    write_after_saving,
)

OTHER_CALL = "another call was being compared"
_AGREES = "agrees"
_OTHER_THREADS = "what the program's own call gave, since other threads may have changed values meanwhile"
_MEMORY = "values with memory that nothing has filled"
_MEMORY_OF_GRADIENTS = "gradients with memory that nothing has filled"
_NO_INPUTS = "not compared: no parameter or input that needs a gradient was found"
_CHANGED = "not compared: {} changed between the call and its backward"
_WRITTEN_BY_OTHERS = "what another thread writes"
_NO_GRADIENTS = "not compared: the backward left no gradient"
_NOT_ENDED = "not compared: the program's backward did not come to its end, as that in the copy did"
_BACKWARD = "backward"  # the path of what a backward raised
_RAISED_WHILE_TRACING = "from user code"  # Dynamo's words, above the line that it was at
_SHORTEST_LIMIT = 20.0  # seconds that a call may take in the copy
_LONGEST_SEARCH = 120.0  # seconds for the stage and the line of a wrong result: the program waits for it
_NOT_SEARCHED = "where it comes from was not looked for"
_SEARCH_ENDED = f"the search for where it comes from was ended after {_LONGEST_SEARCH:g} s"
# In eager, where the program has threads: one may hold a lock, and a copy has none of them.
_WITH_THREADS = 5.0
_NOBODY_ELSE = "where no other thread or rank is there to be waited for"
_TIMES_AS_LONG = 10.0
_LONGEST_DETAIL = 500


class Verifier(Protocol):
    """What all comparisons of the process share.

    `waiting` are calls that wait for a backward; where it `is_bitwise`, casts that are left out are wrong.
    Where it `finds_lines`, the line of a wrong result is looked for.
    """

    waiting: WaitingCalls
    is_bitwise: bool
    finds_lines: bool
    budget: VerifyBudget

    def alone(self) -> AbstractContextManager[bool]:
        """While nothing else is compared; gives False where that is not so."""


class Compiled(Protocol):
    """What was compiled: a call of it is compared. `backend` is what compiles it."""

    backend: Any

    @property
    def function(self) -> Any:
        """The program's function or module."""

    @property
    def verifier(self) -> Verifier:
        """The verifier of this process."""

    def stop(self) -> None:
        """Compare no further call: one was wrong, or took too long in a copy."""

    def record(self, number: int, **fields: Any) -> None:
        """Write what came of a call."""


class ComparedCall:
    """One call that is compared."""

    program: ProgramCall

    def __init__(self, entry: Compiled, number: int) -> None:
        self._entry = entry
        self._number = number
        self.versions: Versions = {}
        self.compiles_before = _compiles()
        self._entries_before = _entries_of(entry.function)
        self._server: ForkServer | EagerFirst | None = None
        self._has_threads = has_other_threads()
        self._took = 0.0  # seconds, with what it compiled
        self._seconds = _SHORTEST_LIMIT
        self._search_ends_ns: int | None = None
        self._passes = b""  # of the backward that is compared
        self._is_memory_left_out = False
        self._is_minor = False  # what differs is a stride, or the like
        self._left: Leaves = {}  # Python's own values as the call left them, where it waits for a backward
        self._fields: dict[str, Any] = {}
        self._spent_ns = 0

    def compare(
        self, outcome: dict[str, Any], server: ForkServer | EagerFirst, took_ns: int, spent_ns: int
    ) -> None:
        """Compare the call with eager, and record what came of it, or let it wait for its backward."""
        began = perf_counter_ns()
        self._server = server
        self.program.outcome = outcome
        self._has_threads = self._has_threads or has_other_threads()
        self._took = took_ns / 1e9
        self._seconds = max(_SHORTEST_LIMIT, _TIMES_AS_LONG * self._took)
        try:
            with shielded():
                self._fields = self._compared(outcome)
        except Exception as error:
            self._fields = {"outcome": "not compared", "why": self._why(error)}
        del self.program  # what it was given is the program's alone
        waits = self._may_wait(outcome)
        self._spend(spent_ns + perf_counter_ns() - began)
        if not waits:
            self.finish()

    def has_compiled(self) -> bool:
        """Whether Dynamo has compiled something since the call began."""
        return self.compiles_before != _compiles()

    def _may_wait(self, outcome: dict[str, Any]) -> bool:
        if self._fields["outcome"] != _AGREES or RESULT not in outcome:
            return False
        outputs = [each for each in tensors_in({RESULT: outcome[RESULT]}) if each[1].grad_fn is not None]
        if outputs and isinstance(self._server, EagerFirst):
            self._fields["gradients"] = f"not compared: {self._server.why_no_copy}"
            return False
        waiting = self._entry.verifier.waiting
        if outputs and not waiting.are_too_many():
            self._left = self._python_values()
            waiting.add(self, outputs)
            return True
        if outputs:
            self._fields["gradients"] = "not compared: too many other calls waited for their backward"
        return False

    def changed_since(self) -> str | None:
        """What the program has changed since the call, of what its functions name; None if nothing."""
        began, now, left = perf_counter_ns(), self._python_values(), self._left
        self._spend(perf_counter_ns() - began)
        return next((path for path in (*now, *left) if now.get(path) != left.get(path)), None)

    def _python_values(self) -> Leaves:
        try:
            return python_values(self._entry.function)
        except RuntimeError:  # a dictionary changed its size while it was walked
            return {_WRITTEN_BY_OTHERS: [VALUE, str(perf_counter_ns())]}

    def compare_backward(self, passes: Sequence[dict[str, Any]]) -> bool:
        """Compare the gradients after these passes; whether those after further ones are to be compared."""
        began = perf_counter_ns()
        with self._entry.verifier.alone() as is_alone:
            try:
                if not is_alone:
                    raise NoAnswer(OTHER_CALL)
                with shielded():
                    self._fields |= self._compared_backward(passes)
            except Exception as error:
                self._fields["gradients"] = f"not compared: {self._why(error)}"
        self._spend(perf_counter_ns() - began)
        goes_on: bool = self._fields["gradients"] == COMPARED and self._fields["outcome"] == _AGREES
        if not goes_on:
            self.finish()
        return goes_on

    def _why(self, error: Exception) -> str:
        if isinstance(error, NoAnswerInTime):
            self._entry.stop()
            return f"{error}, {_NOBODY_ELSE}" if self._has_threads else str(error)
        return str(error) if isinstance(error, NoAnswer) else text_of(error)

    def finish(self) -> None:
        """Record what came of the call, and let the copy end."""
        if self._server is not None:
            self._server.end()
        self.record(ns=self._spent_ns, **self._fields)

    def record(self, outcome: str, **fields: Any) -> None:
        """Write what came of the call."""
        self._entry.record(self._number, outcome=outcome, **fields)

    def _spend(self, nanoseconds: int) -> None:
        self._spent_ns += nanoseconds
        self._entry.verifier.budget.spend(nanoseconds)

    def _compared(self, outcome: dict[str, Any]) -> dict[str, Any]:
        own, forward = self.program.observed(outcome, self.versions), self._ask(EAGER)
        is_made_again = False
        if self._has_threads and self._differs(own, forward):
            again = self._ask(COMPILED)
            is_made_again = bool(compare_leaves(again, own).differences)
            own = again if is_made_again else own
        if self.program.draws_otherwise(own, forward):
            return {"outcome": "not comparable", "why": OWN_RANDOM_NUMBERS}
        if needs_untouched_values(own, forward):
            all_values = f"{COMPILED}:{ALL_VALUES}"
            own = self._ask(all_values) if is_made_again else self.program.observed(outcome, {})
            forward = self._ask(f"{EAGER}:{ALL_VALUES}")
        compared = compare_leaves(own, forward, self._again)
        differences = self._without_what_varies(compared.differences, forward)
        left_out = (
            compared.left_out,
            self._varying_output(compared, differences),
            _OTHER_THREADS if is_made_again else None,
            _MEMORY if self._is_memory_left_out else None,
        )
        fields: dict[str, Any] = {
            "compared": compared.values,
            "left_out": "; ".join(filter(None, left_out)) or None,
        }
        if differences:
            return fields | self._described(differences, own, forward)
        return {"outcome": _AGREES, **fields, **self._rounding(compared.rounding, own, forward)}

    def _differs(self, own: Leaves, eager: Leaves) -> bool:
        return self.program.draws_otherwise(own, eager) or bool(
            compare_leaves(own, eager, self._again).differences
        )

    def _rounding(self, rounding: Difference | None, own: Leaves, eager: Leaves) -> dict[str, Any]:
        """The fields about values that rounding alone makes others; `rounding` is what dropped casts explain.

        Where all bits are to be equal, casts that are left out are a wrong result.
        """
        is_bitwise = self._entry.verifier.is_bitwise
        found = rounding or (largest_of_unequal(own, eager) if is_bitwise else None)
        if found is None:
            return {}
        fields: dict[str, Any] = {"path": found.path, "error": if_recorded(found.error)}
        if isinstance(self._server, EagerFirst):  # what Inductor gives with the casts is not known
            return {"kind": ROUNDED_OTHERWISE, **fields} if is_bitwise else {}
        if not self._agrees_with_casts(eager, is_bitwise=rounding is None):
            return {"kind": ROUNDED_OTHERWISE, **fields} if is_bitwise else {}
        if is_bitwise:
            self._entry.stop()
            fields |= {"outcome": "disagrees", "stage": "inductor", "allowed": 0.0, "differences": 1}
        place = first_cast_to_short(self._lines("")[OPERATIONS])
        return {"kind": MORE_EXACT, **fields, **_place_fields(place)}

    def _compared_backward(self, passes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Compare the gradients of two copies, to which the program's backward is given."""
        self._passes = bytes(saved(list(passes)))
        self._is_memory_left_out = False
        eager, compiled = self._ask(EAGER), self._ask(COMPILED)
        differences = compare_leaves(compiled, eager, self._again).differences
        differences = [
            each._replace(path=_BACKWARD) if each.path == RAISED else each
            for each in self._without_what_varies(differences, eager)
        ]
        if differences:
            return {"gradients": COMPARED, **self._described(differences, compiled, eager)}
        if self._is_memory_left_out and _MEMORY_OF_GRADIENTS not in (self._fields["left_out"] or ""):
            left_out = (self._fields["left_out"], _MEMORY_OF_GRADIENTS)
            self._fields["left_out"] = "; ".join(filter(None, left_out))
        if RAISED not in compiled and not passes[-1]["has_ended"]:
            return {"gradients": _NOT_ENDED}
        changed = next(filter(None, (each["changed"] for each in passes)), None)
        if changed is not None:
            return {"gradients": _CHANGED.format(changed)}
        if RAISED in compiled or any(leaf[0] == TENSOR for leaf in eager.values()):
            return {"gradients": COMPARED}
        return {"gradients": _NO_GRADIENTS if eager else _NO_INPUTS}

    def _described(self, differences: list[Difference], own: Leaves, eager: Leaves) -> dict[str, Any]:
        """The fields of a record about what is wrong, and from where on."""
        self._entry.stop()
        first = differences[0]
        fields: dict[str, Any] = {
            "outcome": "disagrees",
            "kind": first.kind,
            "path": first.path,
            "detail": first.detail[:_LONGEST_DETAIL],
            "error": if_recorded(first.error),
            "allowed": if_recorded(first.allowed),
            "differences": len(differences),
        }
        self._is_minor = first.kind in MINOR
        self._search_ends_ns = perf_counter_ns() + int(_LONGEST_SEARCH * 1e9)
        stage = self._first_wrong_stage(eager)
        if stage in (None, STALE) and RAISED in own and _RAISED_WHILE_TRACING in own[RAISED][1]:
            stage = TRACING
        fields["stage"] = stage
        at = None
        if first.kind == "exception":
            at = raised_at(eager) or raised_at(own)
        elif first.kind == OUTPUT:
            at = printed_at(eager, first.path) or printed_at(own, first.path)
        if at is not None:
            fields |= dict(zip(("wrong_file", "wrong_line"), at, strict=True))
        if self._entry.verifier.finds_lines:
            with suppress(Exception):  # then the line is not known, or is where it raised
                if first.path == _BACKWARD and RAISED in eager:
                    fields |= _place_fields(write_after_saving(self._lines))
                if at is None and "wrong_line" not in fields:
                    is_wrong = partial(self._is_wrong_with, eager=eager)
                    lines = cache(self._lines)
                    place = place_of(differences, stage, lines, is_wrong)
                    fields |= _place_fields(place)
                    fields["undeclared"] = undeclared(place, stage, lines)
                elif stage == TRACING and RAISED in own:
                    fields |= _place_fields(traced_otherwise(self._lines))
        if perf_counter_ns() > self._search_ends_ns:
            fields["why"] = _SEARCH_ENDED
        elif isinstance(self._server, EagerFirst):
            fields["why"] = f"{_NOT_SEARCHED}: {self._server.why_no_copy}"
        return fields

    def _lines(self, which: str) -> dict[str, Any]:
        lines: dict[str, Any] = json.loads(self._ask(f"{LINES}:{which}")[LINES][1])
        return lines

    def _agrees_with_casts(self, eager: Leaves, *, is_bitwise: bool) -> bool:
        """Whether Inductor gives what eager gives once it keeps the casts that the program has written."""
        if backend_name(self._entry.backend) != "inductor":
            return False
        leaves = self._ask(f"{STAGE}:inductor{WITH_CASTS}")
        if is_bitwise:
            return largest_of_unequal(leaves, eager) is None
        again = compare_leaves(leaves, eager, self._again)
        return not again.differences and again.rounding is None

    def _ask(self, request: str) -> Leaves:
        import torch

        assert self._server is not None
        seconds = self._seconds
        if self._has_threads and request.startswith(EAGER):
            seconds = max(_WITH_THREADS, self._took)
        if self._search_ends_ns is not None:
            seconds = min(seconds, max(self._search_ends_ns - perf_counter_ns(), 0) / 1e9)
        answer = self._server.ask(request, seconds, self._passes)
        leaves: Leaves = torch.load(io.BytesIO(answer), weights_only=True)
        return leaves

    def _again(self, seed: int) -> Leaves:
        return self._ask(f"{ROUNDED}:{seed}")

    def _without_what_varies(self, differences: list[Difference], eager: Leaves) -> list[Difference]:
        """The differences that are not there between runs in eager: a clock, an address, memory as it was.

        Three runs: what a clock says may be the same twice.
        """
        kept = differences
        for _ in range(2):
            if kept:
                varies = {each.path for each in compare_leaves(self._ask(EAGER), eager).differences}
                kept = [each for each in kept if each.path not in varies]
        if kept:
            # The memory that one copy gets holds what that of another does.
            varies = {each.path for each in compare_leaves(self._ask(FILLED), eager).differences}
            self._is_memory_left_out = any(each.path in varies for each in kept)
            kept = [each for each in kept if each.path not in varies]
        if any(each.kind == OUTPUT for each in kept):
            rounded = compare_leaves(self._again(1), eager).differences
            varies = {each.path for each in rounded if each.kind == OUTPUT}
            kept = [each for each in kept if each.path not in varies]
        return kept

    @staticmethod
    def _varying_output(compared: Compared, differences: list[Difference]) -> str | None:
        """What to say of printed lines that differ from run to run; None if there are none."""
        found, kept = (sum(e.kind == OUTPUT for e in of) for of in (compared.differences, differences))
        return f"{NOT_NOTED}, where it differs from run to run" if found > kept else None

    def _first_wrong_stage(self, eager: Leaves) -> str | None:
        """The stage of the compiler that the difference is there from; None if that is not known."""
        try:
            own = backend_name(self._entry.backend)
            for backend, stage in (*STAGES, (own, own)):
                if self._is_wrong_with(backend, eager):
                    return stage
            if self.has_compiled():
                dynamic = (
                    stage
                    for backend, stage in STAGES
                    if self._is_wrong_with(f"{backend}{WITH_DYNAMIC}", eager)
                )
                found = None if self._passes else next(dynamic, None)
                if found or self._passes or self._number == 1:
                    return found
            if self._entries_before != _entries_of(self._entry.function):
                return None  # the function itself was compiled in this call: nothing of it was used again
            stale = own if self._is_of_own_backend(eager) else STALE
            return stale if self.compiles_before else None
        except Exception:
            return None

    def _is_wrong_with(self, backend: str, eager: Leaves) -> bool:
        return self._is_wrong(self._ask(f"{STAGE}:{backend}"), eager)

    def _is_wrong(self, leaves: Leaves, eager: Leaves) -> bool:
        """Whether they differ as gravely as those of the call: strides alone do not explain a wrong value."""
        found = compare_leaves(leaves, eager, self._again).differences
        return any(self._is_minor or each.kind not in MINOR for each in found)

    def _is_of_own_backend(self, eager: Leaves) -> bool:
        """Whether a function of the program's compiled the entry, of which the captured graphs are right."""
        code = getattr(inner_backend(self._entry.backend), "__code__", None)
        if code is None or not is_own(code.co_filename):
            return False
        return not self._is_wrong(self._ask(f"{COMPILED}:{AS_CAPTURED}"), eager)


def _compiles() -> int:
    """How many frames Dynamo has compiled in this process, or tried to."""
    counters = sys.modules["torch._dynamo.utils"].counters
    return int(counters["frames"]["total"])


def _entries_of(function: Any) -> int:
    """How many compiled versions a function, or the forward of a module, has; 0 for other callables.

    No code of the program's runs for it, such as a `__getattr__`.
    Source: torch/_C/_dynamo/eval_frame.pyi (_debug_get_cache_entry_list), 2.8 to 2.15.
    """
    import torch
    from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list

    if isinstance(function, torch.nn.Module):
        function = vars(function).get("forward", type(function).forward)
    if isinstance(function, MethodType):
        function = function.__func__
    return len(_debug_get_cache_entry_list(function.__code__)) if isinstance(function, FunctionType) else 0


def _place_fields(place: tuple[str, int, str] | None) -> dict[str, Any]:
    """An operation without a name is not known to be the wrong one."""
    if place is None:
        return {}
    return {"wrong_file": place[0], "wrong_line": place[1], "operation": place[2] or None}


def obstacle(call: ProgramCall) -> str | None:
    """Why a call cannot be made a second time in a copy of the process."""
    available = available_bytes()
    size = 0
    for path, value in tensors_in(call.roots()):
        if value.device.type == "cpu" and value.is_shared():  # of a GPU all memory counts as shared
            return f"{path} is in memory that other processes share"
        size += value.numel() * value.element_size()
    if available is not None and 4 * size > available:
        return "there is too little memory for a copy of the process"
    return None

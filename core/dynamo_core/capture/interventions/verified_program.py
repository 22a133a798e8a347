"""`--verify`: calls of what the program compiled, beside plain Python from the same state.

A graph can only be compared with the graph that was captured. What tracing, guards, mutations or an exception
made of the program before there was a graph shows when the same call is made in eager, in a copy of the
process that was forked before the call (`fork_server.py`): what it returned or raised, what it changed, and
the gradients once the program's backward has reached it (`verified_backward.py`). The program's own call is
made once, as it is.

Source: torch/_dynamo/eval_frame.py (OptimizeContext.__call__, which torch.compile calls for each function and
module), 2.8 to 2.15; run with 2.13.
"""

import atexit
import functools
import io
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FunctionType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from ...backends.agreement import shielded
from ...shared.records import ProgramCallVerified
from ..errors import text_of
from ..frames.program_files import is_own, place_of_compile_call_in_progress
from ..primitives import perf_counter_ns
from ..probe_guard import ProbeGuard
from ..probes.graphs import backend_name
from .call_in_copy import (
    ALL_VALUES,
    COMPILED,
    EAGER,
    LINES,
    OPERATIONS,
    ROUNDED,
    STAGE,
    WITH_CASTS,
    WITH_DYNAMIC,
    ProgramCall,
    program_function,
    raised,
    tensors_in,
)
from .fork_server import ForkServer, NoAnswer, available_bytes, why_no_copy
from .observed_state import RAISED, RESULT, Leaves
from .operation_log import first_cast_to_short
from .state_difference import Difference, compare_leaves, needs_untouched_values
from .verified_backward import WaitingCalls
from .verified_call import COMPARED, OWN_RANDOM_NUMBERS
from .wrong_place import STAGES, STALE, TRACING, place_of, raised_at

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

MORE_EXACT = "more exact than written"
_AGREES = "agrees"
_BACKWARD = "backward"  # the path of what a backward raised
_RAISED_WHILE_TRACING = "from user code"  # Dynamo's words, above the line that it was at
_FIRST_CALLS = 8  # of a function are all compared, then the 16th, 32nd, …
_MOST_OF_THE_TIME = 0.2
_ALLOWANCE = 60.0  # seconds that comparing may take before it has to be worth a share of the run
_SHORTEST_LIMIT = 20.0  # seconds that a call may take in the copy
_TIMES_AS_LONG = 10.0
_LONGEST_DETAIL = 500


class ProgramVerifier:
    """Compares calls of the program in this process."""

    def __init__(self, probes: ProbeGuard) -> None:
        self._probes = probes
        self._began_ns = perf_counter_ns()
        self._spent_ns = 0
        self._inside = threading.local()
        self._lock = threading.Lock()
        self.waiting = WaitingCalls(self.guarded)

    def install(self, eval_frame: ModuleType, parts: "EngineParts") -> None:
        """Wrap what torch.compile makes of the program's functions and modules."""
        atexit.register(self.guarded(self.waiting.look), is_over=True)

        def __call__(proceed: Callable[..., Any], context: Any, function: Any) -> Any:
            compiled = proceed(context, function)
            return self._watched(compiled, context, eval_frame) or compiled

        name = "calls of the program beside eager"
        self._probes.hook(eval_frame.OptimizeContext, "__call__", name, __call__)

    def _watched(self, compiled: Any, context: Any, eval_frame: ModuleType) -> Any:
        """What to call in place of a compiled function; None to call that itself."""
        if not isinstance(compiled, FunctionType) or not hasattr(compiled, "_torchdynamo_orig_callable"):
            return None
        place = place_of_compile_call_in_progress()
        inside = self._inside
        if place is None or getattr(inside, "is_so", False):
            return None
        verify = _Entry(self, compiled, context, place).call

        @functools.wraps(compiled)
        def compile_wrapper(*args: Any, **named: Any) -> Any:
            if getattr(inside, "is_so", False):
                return compiled(*args, **named)
            try:
                return verify(args, named)
            except Exception as error:
                own_traceback = _without_own_lines(error.__traceback__)
                raise error.with_traceback(own_traceback)  # noqa: B904  its cause and context stay as they are

        # Dynamo leaves this out of what it traces, as it does torch's own wrapper.
        wrapper: Any = compile_wrapper
        wrapper.__code__ = wrapper.__code__.replace(
            co_filename=str(eval_frame.__file__), co_firstlineno=compiled.__code__.co_firstlineno
        )
        return wrapper

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While a call of the program's is made: those that it makes belong to it."""
        self._inside.is_so = True
        try:
            yield
        finally:
            self._inside.is_so = False

    def may_verify(self) -> str | None:
        """Why no call is to be verified now; None if one may be, "" where that is nothing to tell of."""
        import torch

        if (
            torch.compiler.is_compiling()
            or torch._C._len_torch_dispatch_stack()
            or torch._C._functorch.peek_interpreter_stack() is not None
            or torch._C._current_graph_task_id() != -1
        ):
            return ""
        elapsed = (perf_counter_ns() - self._began_ns) / 1e9
        if self._spent_ns / 1e9 > _ALLOWANCE + _MOST_OF_THE_TIME * elapsed:
            return ""
        return why_no_copy()

    def guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that raises nothing into the program."""
        return self._probes.guarded("calls of the program beside eager")(function)

    def record(self, verified: ProgramCallVerified) -> None:
        """Write what came of one call."""
        self._probes.stream.record(verified)

    def spend(self, nanoseconds: int) -> None:
        """Count the time that comparing took."""
        self._spent_ns += nanoseconds

    def prepare_copy(self) -> None:
        """In the copy: nothing is recorded, and no call is verified."""
        self._probes.stream.end()
        self._inside.is_so = True

    def lock(self) -> threading.Lock:
        """Held while a call is compared: only one copy at a time."""
        return self._lock


def _without_own_lines(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback of the program's from where it leaves this module."""
    while traceback is not None and traceback.tb_frame.f_globals is globals():
        traceback = traceback.tb_next
    return traceback


class _Entry:
    """What one call of torch.compile made, as the program calls it."""

    def __init__(self, verifier: ProgramVerifier, compiled: Any, context: Any, place: str) -> None:
        self._verifier = verifier
        self._compiled = compiled
        self.context = context
        self._place = place
        self._calls = 0
        self._is_wrong = False

    def call(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Make a call of the program's, and compare it if it is one of those to be compared."""
        self._calls += 1
        number = self._calls
        verifier = self._verifier
        verifier.guarded(verifier.waiting.look)()
        is_wanted = not self._is_wrong and (number <= _FIRST_CALLS or number & (number - 1) == 0)
        if not is_wanted or not verifier.lock().acquire(blocking=False):
            with verifier.inside():
                return self._compiled(*args, **named)
        try:
            return self._verified(number, args, named)
        finally:
            verifier.lock().release()

    def _verified(self, number: int, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        began = perf_counter_ns()
        call = _ComparedCall(self, number)
        compare = self._verifier.guarded(call.compare)
        server, reason = None, ""
        try:
            call.program = ProgramCall(self._compiled, self.context, args, named)
            why_not = self._verifier.may_verify() or _obstacle(call.program)
            reason = why_not or ""
            if why_not is None:
                call.versions = call.program.versions()
                server = ForkServer(call.program.work, self._verifier.prepare_copy)
        except Exception as error:
            reason = text_of(error)
        spent = perf_counter_ns() - began
        if server is None:
            if reason:
                self._verifier.guarded(call.record)("not compared", why=reason, ns=spent)
            with self._verifier.inside():
                return self._compiled(*args, **named)
        began = perf_counter_ns()
        try:
            with self._verifier.inside():
                result = self._compiled(*args, **named)
        except Exception as error:
            compare(raised(error), server, perf_counter_ns() - began, spent)
            raise
        except BaseException:
            server.end()
            raise
        compare({RESULT: result}, server, perf_counter_ns() - began, spent)
        return result

    def is_wrong(self) -> None:
        """A call was wrong: no further one is compared."""
        self._is_wrong = True

    def record(self, number: int, **fields: Any) -> None:
        """Write what came of a call."""
        function = program_function(self._compiled)
        code = getattr(function, "__code__", None)
        owner = getattr(function, "__self__", None)
        name = getattr(function, "__qualname__", type(function).__name__)
        if owner is not None:
            name = f"{type(owner).__qualname__}.forward"
            code = getattr(getattr(type(owner), "forward", None), "__code__", code)
        if code is not None and not is_own(code.co_filename):
            code = None
        compiled_at, _, line = self._place.rpartition(":")
        self._verifier.record(
            ProgramCallVerified(
                name=name,
                file=compiled_at,
                line=int(line) if line.isdigit() else 0,
                function_file=None if code is None else code.co_filename,
                function_line=None if code is None else code.co_firstlineno,
                call=number,
                **fields,
            )
        )

    def spend(self, nanoseconds: int) -> None:
        """Count the time that comparing took."""
        self._verifier.spend(nanoseconds)

    def waiting(self) -> WaitingCalls:
        """The calls that wait for a backward."""
        return self._verifier.waiting

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """While nothing else is compared; gives False where that is not so."""
        lock = self._verifier.lock()
        is_alone = lock.acquire(blocking=False)
        try:
            yield is_alone
        finally:
            if is_alone:
                lock.release()


class _ComparedCall:
    """One call that is compared."""

    program: ProgramCall

    def __init__(self, entry: _Entry, number: int) -> None:
        self._entry = entry
        self._number = number
        self.versions: dict[int, tuple[int, int]] = {}
        self.graphs_before = _graphs()
        self._server: ForkServer | None = None
        self._seconds = _SHORTEST_LIMIT
        self._passes = b""  # of the backward that is compared
        self._fields: dict[str, Any] = {}
        self._spent_ns = 0

    def compare(self, outcome: dict[str, Any], server: ForkServer, took_ns: int, spent_ns: int) -> None:
        """Compare the call with eager, and record what came of it, or let it wait for its backward."""
        began = perf_counter_ns()
        self._server = server
        self._seconds = max(_SHORTEST_LIMIT, _TIMES_AS_LONG * took_ns / 1e9)
        try:
            with shielded():
                self._fields = self._compared(outcome)
        except Exception as error:
            self._fields = {"outcome": "not compared", "why": _why(error)}
        del self.program  # what it was given is the program's alone
        self._spend(spent_ns + perf_counter_ns() - began)
        if not self._may_wait(outcome):
            self.finish()

    def _may_wait(self, outcome: dict[str, Any]) -> bool:
        if self._fields["outcome"] != _AGREES or RESULT not in outcome:
            return False
        outputs = [each for each in tensors_in({RESULT: outcome[RESULT]}) if each[1].grad_fn is not None]
        waiting = self._entry.waiting()
        if outputs and not waiting.are_too_many():
            waiting.add(self, outputs)
            return True
        if outputs:
            self._fields["gradients"] = "not compared: too many other calls waited for their backward"
        return False

    def compare_backward(self, passes: Sequence[dict[str, Any]]) -> bool:
        """Compare the gradients after these passes; whether those after further ones are to be compared."""
        began = perf_counter_ns()
        with self._entry.alone() as is_alone:
            try:
                if not is_alone:
                    raise NoAnswer("another call was being compared")
                with shielded():
                    self._fields |= self._compared_backward(passes)
            except Exception as error:
                self._fields["gradients"] = f"not compared: {_why(error)}"
        self._spend(perf_counter_ns() - began)
        goes_on: bool = self._fields["gradients"] == COMPARED and self._fields["outcome"] == _AGREES
        if not goes_on:
            self.finish()
        return goes_on

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
        self._entry.spend(nanoseconds)

    def _compared(self, outcome: dict[str, Any]) -> dict[str, Any]:
        own = self.program.observed(outcome, self.versions)
        forward = self._ask(EAGER)
        if self.program.draws_otherwise(own, forward):
            return {"outcome": "not comparable", "why": OWN_RANDOM_NUMBERS}
        if needs_untouched_values(own, forward):
            self.versions = {}
            own = self.program.observed(outcome, {})
            forward = self._ask(f"{EAGER}:{ALL_VALUES}")
        compared = compare_leaves(own, forward, self._again)
        differences = self._without_what_varies(compared.differences, forward)
        fields: dict[str, Any] = {"compared": compared.values, "left_out": compared.left_out}
        if differences:
            return fields | self._described(differences, own, forward)
        rounding = compared.rounding
        if rounding is not None and self._agrees_with_casts(forward):
            fields |= {"kind": MORE_EXACT, "path": rounding.path, "error": rounding.error}
            fields |= _place_fields(first_cast_to_short(self._lines("")[OPERATIONS]))
        return {"outcome": _AGREES, **fields}

    def _compared_backward(self, passes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Compare the gradients of two copies, to which the program's backward is given."""
        self._passes = _saved(passes)
        eager, compiled = self._ask(EAGER), self._ask(COMPILED)
        differences = compare_leaves(compiled, eager, self._again).differences
        differences = [
            each._replace(path=_BACKWARD) if each.path == RAISED else each
            for each in self._without_what_varies(differences, eager)
        ]
        fields: dict[str, Any] = {"gradients": COMPARED}
        return fields | self._described(differences, compiled, eager) if differences else fields

    def _described(self, differences: list[Difference], own: Leaves, eager: Leaves) -> dict[str, Any]:
        """The fields of a record about what is wrong, and from where on."""
        self._entry.is_wrong()
        first = differences[0]
        fields: dict[str, Any] = {
            "outcome": "disagrees",
            "kind": first.kind,
            "path": first.path,
            "detail": first.detail[:_LONGEST_DETAIL],
            "error": first.error,
            "allowed": first.allowed,
            "differences": len(differences),
        }
        stage = self._first_wrong_stage(eager)
        if stage in (None, STALE) and RAISED in own and _RAISED_WHILE_TRACING in own[RAISED][1]:
            stage = TRACING
        fields["stage"] = stage
        if first.kind == "exception" and (at := raised_at(eager) or raised_at(own)) is not None:
            return fields | dict(zip(("wrong_file", "wrong_line"), at, strict=True))
        with suppress(Exception):  # then the line is not known
            fields |= _place_fields(place_of(first, stage, self._lines))
        return fields

    def _lines(self, which: str) -> dict[str, Any]:
        lines: dict[str, Any] = json.loads(self._ask(f"{LINES}:{which}")[LINES][1])
        return lines

    def _agrees_with_casts(self, eager: Leaves) -> bool:
        """Whether Inductor gives what eager gives once it keeps the casts that the program has written."""
        if backend_name(self._entry.context.callback) != "inductor":
            return False
        leaves = self._ask(f"{STAGE}:inductor{WITH_CASTS}")
        again = compare_leaves(leaves, eager, self._again)
        return not again.differences and again.rounding is None

    def _ask(self, request: str) -> Leaves:
        import torch

        assert self._server is not None
        answer = self._server.ask(request, self._seconds, self._passes)
        leaves: Leaves = torch.load(io.BytesIO(answer), weights_only=True)
        return leaves

    def _again(self, seed: int) -> Leaves:
        return self._ask(f"{ROUNDED}:{seed}")

    def _without_what_varies(self, differences: list[Difference], eager: Leaves) -> list[Difference]:
        """The differences that are not there between two runs in eager: a clock, an address."""
        if not differences:
            return []
        varies = {each.path for each in compare_leaves(self._ask(EAGER), eager).differences}
        return [each for each in differences if each.path not in varies]

    def _first_wrong_stage(self, eager: Leaves) -> str | None:
        """The stage of the compiler that the difference is there from; None if that is not known."""
        try:
            own = backend_name(self._entry.context.callback)
            for backend, stage in (*STAGES, (own, own)):
                if self._is_wrong_with(backend, eager):
                    return stage
            if self.graphs_before == _graphs():
                return STALE if self.graphs_before else None
            dynamic = (
                stage for backend, stage in STAGES if self._is_wrong_with(f"{backend}{WITH_DYNAMIC}", eager)
            )
            return None if self._passes else next(dynamic, None)
        except Exception:
            return None

    def _is_wrong_with(self, backend: str, eager: Leaves) -> bool:
        leaves = self._ask(f"{STAGE}:{backend}")
        return bool(compare_leaves(leaves, eager, self._again).differences)


def _graphs() -> int:
    """How many graphs Dynamo has made in this process."""
    counters = sys.modules["torch._dynamo.utils"].counters
    return int(counters["stats"]["unique_graphs"])


def _place_fields(place: tuple[str, int, str] | None) -> dict[str, Any]:
    return {} if place is None else dict(zip(("wrong_file", "wrong_line", "operation"), place, strict=True))


def _saved(passes: Sequence[dict[str, Any]]) -> bytes:
    import torch

    buffer = io.BytesIO()
    torch.save(list(passes), buffer)
    return buffer.getvalue()


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, NoAnswer) else text_of(error)


def _obstacle(call: ProgramCall) -> str | None:
    """Why a call cannot be made a second time in a copy of the process."""
    available = available_bytes()
    size = 0
    for path, value in tensors_in(call.roots()):
        if value.is_shared():
            return f"{path} is in memory that other processes share"
        size += value.numel() * value.element_size()
    if available is not None and 4 * size > available:
        return "there is too little memory for a copy of the process"
    return None

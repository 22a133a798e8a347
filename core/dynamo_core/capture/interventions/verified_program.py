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
import itertools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.names import BEFORE, FIRST_CALLS
from ...shared.records import ProgramCallVerified
from ...shared.settings import VERIFY_BITWISE, VERIFY_STAGE, Settings
from ..errors import text_of
from ..frames.program_files import is_own, place_of_compile_call_in_progress
from ..primitives import perf_counter_ns
from ..probe_guard import ProbeGuard
from .call_in_copy import ProgramCall, Versions, program_function, raised, tensors_in
from .compared_call import OTHER_CALL, ComparedCall, obstacle
from .eager_first import EagerFirst
from .fork_server import CannotTry, ForkServer, why_no_copy
from .observed_state import RESULT
from .printed_text import noting_printed
from .variable_log import traced_here
from .verified_backward import WaitingCalls
from .verify_budget import VerifyBudget

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_CALLS_OF_MODULES = ("forward", "_call_impl", "_wrapped_call_impl")  # what is compiled for a whole module
_IN_PROCESS = "DYNAMO_VERIFY_IN_PROCESS"
_LONGEST_WAIT = 20.0  # seconds for another thread's compile to end


def _is_in_process() -> bool:
    """Whether calls are to be made in eager in the program's own process, as on a GPU, and put back."""
    return os.environ.get(_IN_PROCESS) == "1"


class ProgramVerifier:
    """Compares calls of the program in this process."""

    def __init__(self, probes: ProbeGuard, settings: Settings, budget: VerifyBudget) -> None:
        self.budget = budget
        self.is_bitwise = settings.verify == VERIFY_BITWISE
        self.finds_lines = settings.verify != VERIFY_STAGE
        self._probes = probes
        self._inside = threading.local()
        self._lock = threading.Lock()
        self.waiting = WaitingCalls(self.guarded)
        self._sees_tracing = False
        self.beginnings = 0  # how often the first calls of each function are to be compared anew

    def install(self, eval_frame: ModuleType, parts: "EngineParts") -> None:
        """Wrap what torch.compile makes of the program's functions and modules."""
        atexit.register(self.finish)

        def __call__(proceed: Callable[..., Any], context: Any, function: Any) -> Any:
            compiled = proceed(context, function)
            return self._watched(compiled, context, eval_frame) or compiled

        self.guarded(start_autograd)()
        name = "calls of the program beside eager"
        self._probes.hook(eval_frame.OptimizeContext, "__call__", name, __call__)

    def _watched(self, compiled: Any, context: Any, eval_frame: ModuleType) -> Any:
        """What to call in place of a compiled function; None to call that itself."""
        if not isinstance(compiled, FunctionType) or not hasattr(compiled, "_torchdynamo_orig_callable"):
            return None
        place = place_of_compile_call_in_progress()
        if place is None:
            return None
        self._watch_tracing()
        verify = _Entry(self, compiled, context, place).call_with

        @functools.wraps(compiled)
        def compile_wrapper(*args: Any, **named: Any) -> Any:
            if self.is_inside():
                return compiled(*args, **named)
            try:
                return verify(args, named)
            except Exception as error:
                raise without_own_lines(error)  # noqa: B904  its cause and context stay as they are
            finally:
                traced_here.forget()

        # Dynamo leaves this out of what it traces, as it does torch's own wrapper.
        wrapper: Any = compile_wrapper
        wrapper.__code__ = wrapper.__code__.replace(
            co_filename=str(eval_frame.__file__), co_firstlineno=compiled.__code__.co_firstlineno
        )
        return wrapper

    def _watch_tracing(self) -> None:
        """Note what Dynamo traces, so that it can be told what has changed since where an entry is stale."""
        from torch._dynamo.symbolic_convert import InliningInstructionTranslator, InstructionTranslatorBase

        if not self._sees_tracing:
            self._sees_tracing = True
            name = "lines that Dynamo traces"
            self._probes.hook(InstructionTranslatorBase, "starts_line", name, traced_here.note_line)
            self._probes.hook(InliningInstructionTranslator, "inline_call_", name, traced_here.note_return)

    def begin_again(self) -> None:
        """Take the next calls of each function for its first ones: another test begins."""
        self.beginnings += 1

    def finish(self) -> None:
        """Record what came of the calls whose backward has not come by now."""
        self.guarded(self.waiting.look)(is_over=True)

    def is_inside(self) -> bool:
        """Whether this thread is in a call of the program's, to which those that it makes belong."""
        return getattr(self._inside, "is_so", False)

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
        if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
            return "the program records it into a CUDA graph"
        return self.budget.why_spent() or (None if _is_in_process() else why_no_copy())

    def guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that raises nothing into the program, and that the program's modes do not see."""

        def unseen(*args: Any, **named: Any) -> Any:
            with sys.modules["torch"]._C.DisableTorchFunction():
                return function(*args, **named)

        return self._probes.guarded("calls of the program beside eager")(unseen)

    def record(self, verified: ProgramCallVerified) -> None:
        """Write what came of one call."""
        self._probes.stream.record(verified)

    def prepare_copy(self) -> None:
        """In the copy: nothing is recorded, and no call or graph is verified, which would call it again."""
        self._probes.stream.end()
        self.budget.end()
        self._inside.is_so = True
        sys.modules["torch._dynamo.convert_frame"].compile_lock._at_fork_reinit()  # held at the fork

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """While no other call is compared; gives False where one is."""
        is_alone = self._lock.acquire(blocking=False)
        try:
            yield is_alone
        finally:
            if is_alone:
                self._lock.release()


@contextmanager
def _nothing_compiles() -> Iterator[None]:
    """While no thread compiles: a copy made amid a compile has what it was at half done, and may hang.

    Raises TimeoutError. Source: torch/_dynamo/convert_frame.py (compile_lock), 2.8 to 2.15.
    """
    from torch._dynamo.convert_frame import compile_lock

    if not compile_lock.acquire(timeout=_LONGEST_WAIT):
        raise TimeoutError(f"another thread compiled for longer than {_LONGEST_WAIT:.0f} s")
    try:
        yield
    finally:
        compile_lock.release()


def without_own_lines(error: Exception) -> Exception:
    """An exception with its traceback from where it leaves the modules of this folder."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_globals.get("__package__") == __package__:
        traceback = traceback.tb_next
    return error.with_traceback(traceback)


def start_autograd() -> None:
    """Run a backward before anything is compiled, so that one can run in a copy later.

    Where torch is built for CUDA and there is no GPU, compiling puts a guard for eight devices in the place
    of CUDA's (torch/_subclasses/fake_tensor.py, FakeTensorMode.__enter__, run with 2.15). The first backward
    starts a thread for each device that there is then, and no backward runs in a fork beside these.
    """
    import torch

    if torch.version.cuda is not None and not torch.cuda.is_available():
        with torch.inference_mode(False), torch.enable_grad():
            torch.zeros((), dtype=torch.float32, device="cpu", requires_grad=True).backward()


class ComparedFunction:
    """What was compiled, as the program calls it: some of its calls are compared. `backend` compiled it."""

    def __init__(self, verifier: ProgramVerifier, backend: Any) -> None:
        self.verifier = verifier
        self.backend = backend
        self._begin()

    def _begin(self) -> None:
        self._beginning = self.verifier.beginnings
        self._numbers = itertools.count(1)
        self._missed = 0  # calls of other threads that were to be compared while one was; later ones are
        self._has_stopped = False
        self._versions_when_compiled: Versions = {}  # of what the last call that compiled could reach
        self._returned: dict[str, weakref.ref[Any]] = {}  # by the last call that was compared

    def call(
        self, compiled: Callable[[], Any], make: Callable[[], ProgramCall], *, is_first: bool = False
    ) -> Any:
        """Make a call of the program's, and compare it with what `make` gives if it is to be compared.

        The first one of an entry is, and so are the first ones of the function.
        """
        verifier = self.verifier
        if self._beginning != verifier.beginnings:
            self._begin()
        number = next(self._numbers)
        verifier.guarded(verifier.waiting.look)()
        is_among = is_first or number <= FIRST_CALLS or number & (number - 1) == 0
        if (is_among or self._missed > 0) and not self._has_stopped:
            with verifier.alone() as is_alone:
                self._missed += is_among - is_alone
                if is_alone:
                    call = ComparedCall(self, number)
                    if is_first:
                        call.compiles_before = -1  # what was compiled just now is none of an earlier call
                    return self._verified(call, compiled, make)
            if is_among:
                verifier.guarded(self.record)(number, outcome="not compared", why=OTHER_CALL, ns=0)
        with verifier.inside():
            return compiled()

    def _verified(
        self, call: ComparedCall, compiled: Callable[[], Any], make: Callable[[], ProgramCall]
    ) -> Any:
        import torch

        began = perf_counter_ns()
        compare = self.verifier.guarded(call.compare)
        server, reason = None, ""
        try:
            with torch._C.DisableTorchFunction():
                why_not = self.verifier.may_verify()
                if why_not is None:
                    call.program = make()
                    why_not = obstacle(call.program)
                reason = why_not or ""
                if why_not is None:
                    call.versions = call.program.versions()
                    call.program.versions_when_compiled = self._versions_when_compiled
                    call.program.returned_before = self._returned_before()
                    server = self._server(call.program)
        except CannotTry as error:
            reason = f"in the program's own process it cannot be made twice: {error}"
        except Exception as error:
            reason = text_of(error)
        spent = perf_counter_ns() - began
        if server is None:
            if reason:
                self.verifier.guarded(call.record)("not compared", why=reason, ns=spent)
            with self.verifier.inside():
                return compiled()
        began = perf_counter_ns()
        try:
            with self.verifier.inside(), noting_printed() as printed:
                result = compiled()
        except Exception as error:
            compare({**raised(error), **printed.roots()}, server, perf_counter_ns() - began, spent)
            raise
        except BaseException:
            server.end()
            raise
        if call.has_compiled():
            self._versions_when_compiled = call.versions
        compare({RESULT: result, **printed.roots()}, server, perf_counter_ns() - began, spent)
        self.verifier.guarded(self._keep_returned)(result)
        return result

    def _keep_returned(self, result: Any) -> None:
        self._returned = {path: weakref.ref(value) for path, value in tensors_in({RESULT: result})}

    def _returned_before(self) -> dict[str, Any]:
        """What the call before has returned and somebody still has: a backend may use its memory again."""
        values = {f"{BEFORE}{path}": reference() for path, reference in self._returned.items()}
        return {path: value for path, value in values.items() if value is not None}

    def _server(self, program: ProgramCall) -> ForkServer | EagerFirst:
        """What knows what the call leaves in eager, from the state before it. Raises CannotTry."""
        with _nothing_compiles():
            if not _is_in_process():
                return ForkServer(program.work, self.verifier.prepare_copy)
            with self.verifier.inside():
                return EagerFirst(program, why_no_copy() or f"{_IN_PROCESS} is set")

    def stop(self) -> None:
        """Compare no further call: one was wrong, or took too long in a copy."""
        self._has_stopped = True

    @property
    def function(self) -> Any:
        """The program's function or module."""
        raise NotImplementedError

    def record(self, number: int, **fields: Any) -> None:
        """Write what came of a call."""
        raise NotImplementedError


class _Entry(ComparedFunction):
    """What one call of torch.compile made."""

    def __init__(self, verifier: ProgramVerifier, compiled: Any, context: Any, place: str) -> None:
        super().__init__(verifier, context.callback)
        self._compiled = compiled
        self._context = context
        self._place = place

    def call_with(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Make a call of the program's with these arguments."""
        make = functools.partial(ProgramCall, self._compiled, self._context, self.backend, args, named)
        return self.call(functools.partial(self._compiled, *args, **named), make)

    @property
    def function(self) -> Any:
        """The program's function or module."""
        return program_function(self._compiled)

    def record(self, number: int, **fields: Any) -> None:
        """Write what came of a call."""
        function = self.function
        code = getattr(function, "__code__", None)
        owner = getattr(function, "__self__", None)
        name = getattr(function, "__qualname__", type(function).__name__)
        if owner is not None and getattr(function, "__name__", "") in _CALLS_OF_MODULES:
            name = f"{type(owner).__qualname__}.forward"
            code = getattr(getattr(type(owner), "forward", None), "__code__", code)
        if code is not None and not is_own(code.co_filename):
            code = None
        compiled_at, _, line = self._place.rpartition(":")
        self.verifier.record(
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

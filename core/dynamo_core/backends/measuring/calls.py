"""Calls of a compiled graph, forward and, where it trains, backward; and how long they take.

Threads that wait for a processor, because something else has it, make a call longer. Where one thread
computes, its waiting is known, and no part of the time. Where several do, they wait for each other as well,
and what the call would have taken is not known: such a batch does not count.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...shared.backend_choice import BackendChoice
from ...shared.timing import Waiting, now, settle
from ..agreement import clone_with_aliases
from ..compilers import Compiler, copy_of_graph
from ..results import Declined

# A graph of a recording, compiled by one backend: from the text of its program to the callable itself.
#
# The program's module goes through `torch.compile`, so that the backend is given what Dynamo gives it: a
# graph module with fake values. What the backend returns is kept with the arguments of its first call.
# Measured is that callable, without Dynamo's guards around it: they cost the same for every backend, and more
# than a small graph takes. Source: torch/_dynamo/output_graph.py (compile_and_call_fx_graph), 2.8 to 2.15.


SEED = 0


class NotCompiled(Exception):
    """The backend gave no callable for the graph; `str()` says why."""


class NotRunnable(Exception):
    """The graph's program does not run outside of the program that it is from; `str()` says why."""


@dataclass(frozen=True)
class CompiledGraph:
    """What a backend made of a graph, and the arguments to call it with.

    `graph` is the module as Dynamo made it. `seconds` is what compiling took up to the first call.
    """

    graph: Any
    function: Callable[..., Any]
    arguments: Sequence[Any]
    seconds: float


def compile_program(text: str, choice: BackendChoice, compiler: Compiler) -> CompiledGraph:
    """Compile the module of a program (`generated_program.py`) for its inputs.

    NotRunnable if the program cannot be run; NotCompiled, Declined if the backend does not take the graph.
    """
    import torch

    torch._dynamo.reset()
    torch.compiler.config.dynamic_sources = ""
    refused: list[Exception] = []
    called: list[CompiledGraph] = []

    def grab(gm: Any, example_inputs: Sequence[Any]) -> Any:
        graph = copy_of_graph(gm)
        refused.clear()  # Dynamo may begin anew
        began = time.perf_counter()
        try:
            function = compiler(gm, example_inputs)
        except Exception as error:
            refused.append(error)
            raise
        if not callable(function):
            what = "None" if function is None else f"a {type(function).__name__}, which is not callable"
            refused.append(NotCompiled(f"it returned {what}"))
            raise refused[0]
        seconds = time.perf_counter() - began

        def keep_arguments(*arguments: Any) -> Any:
            if not called:
                called.append(CompiledGraph(graph, function, arguments, seconds))
            raise _Enough

        return keep_arguments

    try:
        names: dict[str, Any] = {"__name__": "dynamo_measured_graph"}
        exec(compile(text, "<graph>", "exec"), names)
        torch.manual_seed(SEED)
        module, inputs = names["module"](), names["inputs"]()
        torch.compile(module, backend=grab, fullgraph=True)(*inputs)  # type: ignore[no-untyped-call]
    except _Enough:
        pass
    except Exception as error:
        if refused and isinstance(refused[0], (Declined, NotCompiled)):
            raise refused[0] from error
        if refused:
            raise NotCompiled(in_a_line(refused[0])) from error
        raise NotRunnable(in_a_line(error)) from error
    if not called:
        raise NotRunnable("there is nothing in it to compile")
    return called[0]


class _Enough(BaseException):
    """The callable and its arguments are known, so nothing needs to be computed any more."""


@contextlib.contextmanager
def modes_set(modes: Mapping[str, Any], threads: int | None) -> Iterator[None]:
    """The settings of torch under which the graph was recorded (`capture/probes/graphs.py`)."""
    import torch

    precision = modes["float32_matmul_precision"]
    if precision is not None:
        torch.set_float32_matmul_precision(precision)
    torch.set_default_dtype(getattr(torch, modes.get("default_dtype") or "float32"))
    if threads is not None:
        torch.set_num_threads(threads)
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.set_grad_enabled(modes["grad_enabled"]))
        for device, dtype in modes["autocast"].items():
            stack.enter_context(torch.autocast(device, getattr(torch, dtype)))
        yield


def in_a_line(error: BaseException) -> str:
    """An error as one line: its type, and the first line of what it says."""
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except Exception:  # exceptions can have any `__str__`
        lines = []
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


# Calls of a compiled graph, forward and, where it trains, backward; and how long they take.


_LONG_ENOUGH = 2e-3  # seconds, for an estimate
_ESTIMATES = 3
_WARM_UP = 2e-3  # seconds: caches and threads are another process's when a batch begins
_UNDISTURBED = 0.02  # so much of a batch its threads may have waited in all, where several compute


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


@dataclass(frozen=True)
class Batch:
    """Seconds of a call, and of its forward part, on average over some of them.

    `busy` is the share of the time in which something waited for a processor, in the machine or else in this
    process; None where the system does not say. `counts` is False where the calls were held up for an
    unknown time.
    """

    seconds: float
    forward: float
    busy: float | None
    counts: bool


class Clocked(NamedTuple):
    """Seconds of a call on average, of its forward part, and for which this thread was on a processor."""

    seconds: float
    forward: float
    on_processor: float


def batch_of(clocked: Clocked, waiting: Waiting, calls: int, on_cpu: bool) -> Batch:
    """From what the clocks say of a call, and how long threads waited during all of them."""
    seconds, forward = clocked.seconds, clocked.forward
    if waiting.seconds is None:
        return Batch(seconds, forward, waiting.pressure, True)
    waited = waiting.seconds / calls
    busy = min(1.0, waited / seconds) if waiting.pressure is None else waiting.pressure
    if on_cpu and waiting.threads == 1:
        # The counters are read a moment before and after: what the thread has computed is the least.
        own = max(clocked.on_processor, seconds - waited)
        return Batch(own, forward * own / seconds, busy, True)
    return Batch(seconds, forward, busy, waited <= _UNDISTURBED * seconds)


class TimedGraph:
    """A compiled graph that is called again and again on the same inputs.

    Inputs that a call changes in place are put back before each batch. `trains` says whether a call is
    forward and backward, `is_of_one_thread` whether torch has no other thread to compute it.
    """

    def __init__(self, compiled: CompiledGraph) -> None:
        import torch

        self._function = compiled.function
        self._inputs = clone_with_aliases(compiled.arguments)
        self._on_cuda = any(_is_tensor(value) and value.is_cuda for value in self._inputs)
        self.is_of_one_thread = not self._on_cuda and torch.get_num_threads() == 1
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
        seconds = self._batch(calls).seconds
        while seconds * calls < _LONG_ENOUGH:
            calls *= 4
            seconds = self._batch(calls).seconds
        return min(seconds, *(self._batch(calls).seconds for _ in range(_ESTIMATES)))

    def batch(self, calls: int) -> Batch:
        """Time `calls` of them, warm, and leave the processors to the next one."""
        until = time.perf_counter() + _WARM_UP
        while True:
            self._call()
            if time.perf_counter() >= until:
                batch = self._batch(calls)
                settle()
                return batch

    def _batch(self, calls: int) -> Batch:
        import torch

        with torch.no_grad():
            for live, saved in self._changed:
                live.copy_(saved)
        marks = []
        self._synchronize()
        before = now()
        began, own = time.perf_counter(), time.thread_time()
        for _ in range(calls):
            marks.append(self._call())
        self._synchronize()
        seconds, own = (time.perf_counter() - began) / calls, (time.thread_time() - own) / calls
        waiting = before.until(now())
        forward = sum(self._between(start, end) for start, end in marks) / calls if self.trains else seconds
        return batch_of(
            Clocked(seconds, min(forward, seconds), own), waiting, calls, on_cpu=not self._on_cuda
        )

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

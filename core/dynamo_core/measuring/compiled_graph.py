"""A graph of a recording, compiled by one backend: from the text of its program to the callable itself.

The program's module goes through `torch.compile`, so that the backend is given what Dynamo gives it: a graph
module with fake values. What the backend returns is kept with the arguments of its first call. Measured is
that callable, without Dynamo's guards around it: they cost the same for every backend, and more than a small
graph takes. Source: torch/_dynamo/output_graph.py (compile_and_call_fx_graph), 2.8 to 2.15.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..backends.compilers import Compiler
from ..backends.declined import Declined
from ..backends.graph_copy import copy_of_graph
from ..shared.backend_choice import BackendChoice

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
        torch.compile(module, backend=grab, fullgraph=True)(*inputs)
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
    """The settings of torch under which the graph was recorded (`capture/probes/modes.py`)."""
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

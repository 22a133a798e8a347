"""From what the user named as a backend to what torch.compile makes of it."""

import functools
import importlib.util
import inspect
import itertools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from types import ModuleType
from typing import Any

from ..shared.backend_choice import BackendChoice, import_package_of
from ..shared.our_record import OurRecord
from .results import Declined

# How a backend declines a graph that trains, where it is for inference alone (`FOR_INFERENCE`).


def declining_what_trains(name: str, compiler: Callable[..., Any]) -> Callable[..., Any]:
    """The backend, which raises Declined for a graph that needs gradients."""

    def compile_graph(gm: Any, example_inputs: Sequence[Any]) -> Any:
        decline_what_trains(name, example_inputs)
        return compiler(gm, example_inputs)

    return compile_graph


def decline_what_trains(name: str, example_inputs: Sequence[Any]) -> None:
    """Declined if the graph needs gradients."""
    import torch

    if torch.is_grad_enabled() and any(
        isinstance(value, torch.Tensor) and value.requires_grad for value in example_inputs
    ):
        raise Declined(f"the graph needs gradients, and {name} is for inference")


# The backend `ofi`: a graph traced by TorchScript and optimized for inference (frozen, fused, oneDNN).
#
# One of the first backends of TorchDynamo. Source: torch/jit/_freeze.py (optimize_for_inference), 2.8 to
# 2.15.


def ofi(gm: Any, example_inputs: Sequence[Any]) -> Any:
    """Compile a graph for inference. Declines what trains, what changes its inputs, and sizes that vary."""
    import torch
    from torch._dynamo.backends.common import fake_tensor_unsupported

    if any(isinstance(value, torch.SymInt) for value in example_inputs):
        raise Declined("sizes are symbolic, and a TorchScript trace has fixed ones")
    decline_what_trains("ofi", example_inputs)

    def trace(gm: Any, inputs: Sequence[Any]) -> Any:
        if _changes_inputs(gm, inputs):
            raise Declined("the graph changes its inputs, which optimize_for_inference may do twice")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # torch 2.15: TorchScript is deprecated
            module = torch.jit.optimize_for_inference(torch.jit.trace(gm, tuple(inputs)))
        return module.forward  # Dynamo cannot wrap a frozen module: it has no `training`

    # Dynamo's inputs are fake, a trace needs real ones.
    return fake_tensor_unsupported(trace)(gm, example_inputs)  # type: ignore[arg-type]


def _changes_inputs(gm: Any, inputs: Sequence[Any]) -> bool:
    """By running it. Seen with 2.13: of `x.add_(1); return x + y`, the optimized module adds 2."""
    import torch

    with torch.inference_mode(mode=False), torch.no_grad():  # inference tensors count no versions
        copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
        before = [copy._version for copy in copies if isinstance(copy, torch.Tensor)]
        gm(*copies)
    return before != [copy._version for copy in copies if isinstance(copy, torch.Tensor)]


# From what the user named as a backend to what torch.compile makes of it.


# `(graph module, example inputs) -> callable`, as Dynamo calls it; torch's CompilerFn.
Compiler = Callable[..., Any]

# Writes an artifact record of ours about the graph that is being compiled: its name and its payload.
Tell = Callable[[OurRecord], None]

_one_at_a_time = threading.RLock()  # not a plain lock: what is imported meanwhile may compile as well
_file_numbers = itertools.count(1)


def compiler_of(choice: BackendChoice, *, dynamic: bool | None = None) -> Compiler:
    """The compiler that `torch.compile` makes of a backend, its mode and options; its errors are torch's.

    ImportError, AttributeError: there is no such function.
    """
    compiler: Compiler = optimize_arguments(choice, dynamic, fullgraph=False)[1]["backend"]
    return compiler


def optimize_arguments(
    backend: Any, dynamic: bool | None, fullgraph: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What `torch.compile` calls `torch._dynamo.optimize` with, after all of its checks and defaults.

    `backend` is a BackendChoice, or a compiler. Source: torch/__init__.py (compile), which ends in
    `torch._dynamo.optimize(backend=…)(model)`; 2.8 to 2.15.
    """
    import torch

    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def nothing() -> None:
        """What the call is known by: the program's other threads may compile meanwhile."""

    def keep_arguments(*args: Any, **named: Any) -> Any:
        def decorate(model: Any) -> Any:
            if model is not nothing:
                return optimize(*args, **named)(model)
            calls.append((args, named))
            return model

        return decorate

    with _one_at_a_time:
        mode, options = None, None
        if isinstance(backend, BackendChoice):
            mode, options = backend.mode, dict(backend.options) or None
            backend = resolve_backend(backend.name)
        optimize = torch._dynamo.optimize
        torch._dynamo.optimize = keep_arguments
        try:
            inspect.unwrap(
                torch.compile
            )(  # ours around it (`capture/interventions/override.py`) is for the program
                nothing, backend=backend, mode=mode, dynamic=dynamic, fullgraph=fullgraph, options=options
            )
        finally:
            torch._dynamo.optimize = optimize
    return calls[0]


def resolve_backend(backend: str) -> Any:
    """A registered name as it is; `module:function` and `file.py:function` as the function; ours as itself.

    A backend that stands in the program itself is taken from there: the program is not run a second time.
    """
    if backend == "ofi":
        return ofi
    place, colon, function = backend.rpartition(":")
    if not colon:
        import_package_of(backend)
        return backend
    is_file = place.endswith(".py")
    main = sys.modules["__main__"]
    main_file = getattr(main, "__file__", None)
    file = place if is_file else _file_of_module(place)
    if main_file and file and os.path.realpath(main_file) == os.path.realpath(file):
        return getattr(main, function)
    module = _module_in_file(os.path.abspath(place)) if is_file else importlib.import_module(place)
    return getattr(module, function)


def _file_of_module(name: str) -> str | None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no module {name}")
    return spec.origin


@functools.cache
def _module_in_file(file: str) -> ModuleType:
    """Run once, however many backends are in it and however often they are asked for."""
    spec = importlib.util.spec_from_file_location(f"_dynamo_backend_file_{next(_file_numbers)}", file)
    assert spec is not None and spec.loader is not None  # its name ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # torch looks functions up by their module
    spec.loader.exec_module(module)
    return module


# The backend `cudagraphs` in a chain: what torch would run without CUDA graphs, it declines.
#
# Source: torch/_dynamo/backends/cudagraphs.py (cudagraphs.forward_cudagraphs), 2.8 to 2.15, which logs why it
# skips a graph and returns one that runs eagerly. Run with graphs on the CPU; not on a GPU.


def declining_what_cuda_graphs_skip(cudagraphs: Compiler) -> Compiler:
    """torch's backend, but Declined with torch's reason where a forward graph is not captured.

    A backward graph is compiled later, when the graph is taken: torch runs it eagerly if need be.
    """

    def decline(message: str) -> None:
        reason = message.rpartition("skipping cudagraphs due to ")[2]
        raise Declined(reason.partition(". Found from")[0])

    def compile_graph(gm: Any, example_inputs: Sequence[Any]) -> Any:
        import torch._dynamo.backends.cudagraphs as module

        torchs: Any = module
        log_skip = torchs.log_cudagraph_skip_and_bump_counter
        torchs.log_cudagraph_skip_and_bump_counter = decline
        try:
            return cudagraphs(gm, example_inputs)
        finally:
            torchs.log_cudagraph_skip_and_bump_counter = log_skip

    compile_graph.reset = getattr(cudagraphs, "reset", None)  # type: ignore[attr-defined]
    return compile_graph


# A copy of a graph module that a backend may rewrite before it declines.
#
# Source: torch/fx/graph_module.py (GraphModule), torch/fx/graph.py (Graph.node_copy). What Dynamo notes
# outside of `meta` (torch/_dynamo/output_graph.py, OutputGraph.call_user_compiler) is wanted by AOTAutograd
# for guards on inputs that are one tensor (torch/_functorch/_aot_autograd/frontend_utils.py). 2.8 to 2.15.


def copy_of_graph(gm: Any) -> Any:
    """A copy of the graph, and of the graphs below it, with the same parameters, buffers and modules.

    Everything else that Dynamo noted on the module and on its nodes is there as well.
    """
    return _copy(gm, {})


def _copy(gm: Any, copies: dict[int, Any]) -> Any:
    import torch
    from torch.fx._lazy_graph_module import _make_graph_module

    if id(gm) in copies:  # a body that is called in several places
        return copies[id(gm)]
    copied = copies[id(gm)] = _make_graph_module(gm, deepcopy(gm.graph), type(gm).__name__)
    copied.meta = dict(gm.meta)
    _add_missing(gm, copied)
    for node, copied_node in zip(gm.graph.nodes, copied.graph.nodes, strict=True):
        _add_missing(node, copied_node)
    for name, child in list(copied.named_children()):
        if isinstance(child, torch.fx.GraphModule):  # a body of cond, checkpoint, …
            setattr(copied, name, _copy(child, copies))
    return copied


def _add_missing(original: Any, copied: Any) -> None:
    for name, value in vars(original).items():
        if name not in vars(copied):
            setattr(copied, name, value)

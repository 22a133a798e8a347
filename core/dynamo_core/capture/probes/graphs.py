"""Probe: every FX graph that Dynamo passes to a backend, and the calls of what the backend returns.

Source: torch/_dynamo/output_graph.py (OutputGraph.call_user_compiler). Its signature is (self, gm) up to
torch 2.7 and (self, gm, example_inputs) from 2.8. Run with 2.13; sources read from 2.8 to 2.15, in all
of which `root_tx.f_code` is the frame's code.
"""

import operator
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...backends.results import graph_in_progress
from ...shared.early_records import GraphReturned
from ...shared.graph_key import graph_key, order_of_graph
from ...shared.records import GraphCompiled, GraphHandedOver
from ..eager_semantics.observer import observe_graph
from ..frames.source import compile_id_text, current_compile_id, described_user_line, line_of_call, user_line
from ..primitives import perf_counter_ns, time_ns
from ..torch_versions import graph_name, source_name
from .device_time import timed_on_device
from .guards import guard_cost
from .optimizers import optimizer_steps
from .unrolled_loops import unrolled_loop

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph
    from torch.fx import GraphModule, Node

    from ..eager_semantics.graph import GraphWithEagerFallback
    from ..engine_parts import EngineParts


def custom_operators(gm: "GraphModule") -> dict[str, dict[str, Any]]:
    """The file, line and module that register each custom operator of a graph, by `namespace::name`.

    A stand-alone program of the graph needs them. Source: torch/_library/custom_ops.py (OPDEFS, CustomOpDef)
    for `torch.library.custom_op`, and torch/_library/simple_registry.py (singleton, whose `fake_impl` holds a
    kernel with its source) for `torch.library.register_fake`. Read in 2.8 to 2.15, run with 2.13.
    """
    found = {}
    for node in gm.graph.nodes:
        name = _qualified_name(node.target) if node.op == "call_function" else None
        if name is not None and name not in found:
            place = _place_of_definition(name) or _place_of_fake(name)
            if place is not None:
                found[name] = place
    return found


def drawn_for_numpy(gm: "GraphModule") -> dict[str, Any] | None:
    """The line of the first of NumPy's random numbers, for which a graph draws one of torch's own.

    Source: torch/_dynamo/variables/misc.py (NumpyVariable.call_function) and torch/_dynamo/utils.py
    (numpy_to_tensor_wrapper, whose `f` is a function of torch/_numpy/random.py). Read in 2.8 to 2.15.
    """
    for node in gm.graph.nodes:
        function = getattr(node.target, "f", None)
        if getattr(function, "__module__", None) == "torch._numpy.random":
            return described_user_line(node.meta.get("stack_trace"))
    return None


def _qualified_name(target: Any) -> str | None:
    """The qualified name of an operator, `mylib::scale`, whatever its overload; None for other functions."""
    import torch

    if isinstance(target, torch._ops.OpOverload):
        name: str = target._schema.name
        return name
    return target._qualified_op_name if isinstance(target, torch._ops.OpOverloadPacket) else None


def _place_of_definition(name: str) -> dict[str, Any] | None:
    from torch._library.custom_ops import OPDEFS

    code = getattr(getattr(OPDEFS.get(name), "_init_fn", None), "__code__", None)
    return None if code is None else _place(code.co_filename, code.co_firstlineno)


def _place_of_fake(name: str) -> dict[str, Any] | None:
    """The place of the fake implementation, which is usually beside the operator."""
    from torch._library.simple_registry import singleton

    kernel = getattr(getattr(singleton._data.get(name), "fake_impl", None), "kernel", None)
    if kernel is None:
        return None
    file, _, line = kernel.source.rpartition(":")
    return _place(file, int(line))


def _place(file: str, line: int) -> dict[str, Any]:
    modules = (
        name for name, module in list(sys.modules.items()) if getattr(module, "__file__", None) == file
    )
    return {"file": file, "line": line, "module": next(modules, None)}


def torch_modes(gm: "GraphModule") -> dict[str, Any]:
    """The modes of torch on which the result of a graph's nodes depends, as they are when it is called.

    Dynamo restores them for the backend: torch/_dynamo/output_graph.py (compile_and_call_fx_graph,
    restore_global_state), 2.8 to 2.15.
    """
    import torch

    values = [node.meta.get("example_value") for node in gm.graph.nodes]
    devices = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    return {
        "grad_enabled": torch.is_grad_enabled(),
        "autocast": {
            device: str(torch.get_autocast_dtype(device)).removeprefix("torch.")
            for device in sorted(devices)
            if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)
        },
        "float32_matmul_precision": _matmul_precision(),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
    }


def threads() -> int:
    """How many threads torch's operators on the CPU use."""
    import torch

    count: int = torch.get_num_threads()
    return count


def _matmul_precision() -> str | None:
    import torch

    try:
        precision: str = torch.get_float32_matmul_precision()
    except RuntimeError:  # the program has set it for only one backend (aten/src/ATen/Context.cpp)
        return None
    return precision


def outputs_of(gm: "GraphModule") -> int | None:
    """How many values a graph returns in a tuple; None where it returns something else."""
    outputs = next(node for node in reversed(gm.graph.nodes) if node.op == "output").args[0]
    return len(outputs) if isinstance(outputs, (tuple, list)) else None


def structure_difference(outputs: int | None, result: Any) -> str | None:
    """What makes the result of a backend another structure than the graph's tuple of so many outputs."""
    if not outputs:  # Dynamo reads none
        return None
    if not isinstance(result, (tuple, list)):
        return f"the backend returned a {type(result).__name__}, the graph returns a tuple of {outputs}"
    if len(result) != outputs:
        values = "1 value" if len(result) == 1 else f"{len(result)} values"
        return f"the backend returned {values}, the graph returns {outputs}"
    return None


def install(output_graph: ModuleType, parts: "EngineParts") -> None:
    """Hook into `OutputGraph.call_user_compiler`; `--verify` wraps what counts the calls once more."""
    from torch._dynamo.exc import SkipFrame

    probes, window, freeze = parts.probes, parts.window, parts.freeze
    late_modules = parts.late_modules
    counters = probes.stream.counters
    graphs_seen = 0
    wrap_graph = None
    if parts.verifier is not None:
        wrap_graph = probes.guarded("graph calls beside eager")(parts.verifier.before)

    find_loop = probes.guarded("loops that were unrolled")(unrolled_loop)

    @probes.guarded("graphs")
    def record_graph(graph_number: int, backend: Any, gm: "GraphModule") -> str | None:
        loop = find_loop(gm.graph.nodes)
        described = _described_graph(graph_number, backend_name(backend), gm, loop)
        probes.stream.record(described, current_compile_id())
        return described.key

    @probes.guarded("graph calls")
    def record_compiled(
        graph_number: int,
        gm: "GraphModule",
        compiled: Any,
        elapsed: int,
        owner: "OutputGraph",
        wrap: Callable[[Any, Any], Any] | None,
        fallback: "GraphWithEagerFallback | None",
    ) -> Any:
        countable = not (owner.export or getattr(owner, "package", None) is not None)
        calls_index = counters.new_page() if countable else None
        probes.stream.record(
            GraphCompiled(
                graph=graph_number,
                name=graph_name(gm),
                backend_ns=elapsed,
                calls_index=calls_index,
                specialization="specialization" in gm.meta,
                method=parts.frame_method,
            ),
            current_compile_id(),
        )
        if graph_number == 1:
            parts.records.state()
        if calls_index is None:  # torch serialises or inspects the callable itself, which is not wrapped then
            return None
        if freeze is not None:
            freeze.watch(calls_index)
        if parts.late_hooks is not None:
            parts.late_hooks.compiled(gm, owner, graph_number, calls_index)
        sample_guards = guard_cost.sampler(current_compile_id())
        compiled = _as_torch_calls_it(_without_lazy_module(compiled), gm, owner)
        compiled = bare = compiled if fallback is None else fallback.wrap(compiled)
        if window is not None:
            compiled = window.watch(compiled, graph_number, compile_id_text(current_compile_id()))
        compiled = timed_on_device(compiled, lambda: counters.words_of(calls_index))
        watch = None if fallback is not None else observe_graph(gm, graph_number, probes)
        outputs = outputs_of(gm)

        def look(result: Any) -> None:
            record_structure(graph_number, outputs, result)
            if watch is not None:
                watch(result)

        called = counters.counted(compiled, calls_index, sample_guards, look)
        if window is not None:
            called = window.stepping(called, graph_number)
        if parts.stop is not None:
            called = parts.stop.around(called, owner.root_tx.f_code)
        if parts.saving_inputs is not None:
            called = parts.saving_inputs(called, graph_number)
        return called if wrap is None else wrap(bare, called)

    @probes.guarded("what graphs return")
    def record_structure(graph_number: int, outputs: int | None, result: Any) -> None:
        differs = structure_difference(outputs, result)
        if differs is not None:
            probes.stream.record(GraphReturned(graph=graph_number, differs=differs))

    def call_user_compiler(
        proceed: Callable[..., Any], self: "OutputGraph", gm: "GraphModule", *rest: Any
    ) -> Any:
        nonlocal graphs_seen
        keeper = parts.whole_program.keeper()
        fallback = None if keeper is None else keeper.before_backend(gm, graphs_seen + 1)
        graph_number = graphs_seen = graphs_seen + 1
        compiler = self.compiler_fn
        if fallback is not None and fallback.is_left_to_eager:
            self.compiler_fn = eager
        key = record_graph(graph_number, self.compiler_fn, gm)
        start = perf_counter_ns()
        late_modules.wait()
        graph_in_progress.number, graph_in_progress.key = graph_number, key
        wrap = None if wrap_graph is None else wrap_graph(gm, self.compiler_fn, graph_number)
        try:
            compiled = proceed(self, gm, *rest)
        finally:
            self.compiler_fn = compiler
            if keeper is not None:
                keeper.remove_static_marks(gm)
            graph_in_progress.number = graph_in_progress.key = None
            late_modules.stop()
        elapsed = perf_counter_ns() - start
        called = None
        if key is not None:  # None: the graph could not be recorded
            called = record_compiled(graph_number, gm, compiled, elapsed, self, wrap, fallback)
        return called or (compiled if fallback is None else fallback.wrap(compiled))

    probes.hook(output_graph.OutputGraph, "call_user_compiler", "graphs", call_user_compiler, SkipFrame)


def eager(gm: "GraphModule", example_inputs: Any) -> Any:
    """A backend that runs the graph as it is, in place of the user's for a graph that is left to eager."""
    return gm.forward


def _without_lazy_module(compiled: Any) -> Any:
    """`compiled`, or the forward of a lazily recompiled module; Dynamo could not do this behind our wrapper.

    Source: torch/_dynamo/output_graph.py (compile_and_call_fx_graph), 2.8 to 2.15.
    """
    from torch.fx._lazy_graph_module import _LazyGraphModule

    owner = getattr(compiled, "__self__", None)
    if isinstance(compiled, _LazyGraphModule):
        _LazyGraphModule.force_recompile(compiled)
    elif isinstance(owner, _LazyGraphModule) and compiled.__name__ == "_lazy_forward":
        _LazyGraphModule.force_recompile(owner)
        return owner.forward
    return compiled


def _as_torch_calls_it(compiled: Any, gm: "GraphModule", owner: "OutputGraph") -> Any:
    """The function that Dynamo calls, inside the wrappers of `torch.compile` and `torch.compiler.disable`.

    Dynamo disables itself around what a backend returns, and removes such wrappers first. It would not see
    them behind ours: Inductor's own wrapper would be entered at each call, which takes longer than counting
    it, and what the backend has passed to torch.compile would be compiled.

    Source: torch/_dynamo/output_graph.py (compile_and_call_fx_graph), torch/_dynamo/eval_frame.py
    (DisableContext, innermost_fn), 2.8 to 2.15.
    """
    from torch._dynamo.eval_frame import innermost_fn

    keeps_wrappers = "specialization" in gm.meta or getattr(owner, "torch_function_subclass_inlined", False)
    return compiled if keeps_wrappers else innermost_fn(compiled)


def _described_graph(
    graph_number: int, backend: str, gm: "GraphModule", loop: dict[str, Any] | None
) -> GraphHandedOver:
    described = [_node(node) for node in gm.graph.nodes]
    modes = torch_modes(gm)
    return GraphHandedOver(
        graph=graph_number,
        name=graph_name(gm),
        backend=backend,
        ops=sum(node["op"].startswith("call_") for node in described),
        optimizer_steps=optimizer_steps(gm),
        key=graph_key(described, modes),
        trains=modes["grad_enabled"] and any(node.get("requires_grad") for node in described),
        modes=modes,
        threads=threads(),
        custom_operators=custom_operators(gm),
        loop=loop,
        drawn_for_numpy=drawn_for_numpy(gm),
        handed_over_ns=time_ns(),
        order=order_of_graph(described),
        nodes=described,
    )


def inner_backend(backend: Any) -> Any:
    """The backend that the user gave, inside torch's wrappers.

    Source: torch/_dynamo/repro/after_dynamo.py (WrapBackendDebug), torch/__init__.py (_TorchCompile*Wrapper).
    """
    while True:
        inner = getattr(backend, "_torchdynamo_orig_backend", None) or getattr(
            backend, "_torchdynamo_orig_callable", None
        )
        if inner is None:
            break
        backend = inner
    return backend.compiler_fn if type(backend).__name__ == "_TorchCompileWrapper" else backend


def backend_name(backend: Any) -> str:
    """The backend's name as the user knows it."""
    backend = inner_backend(backend)
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None)
    return str(name or type(backend).__name__)


def _node(node: "Node") -> dict[str, Any]:
    described: dict[str, Any] = {
        "op": node.op,
        "name": node.name,
        "target": target_name(node),
        "args": str(node.args),
        "kwargs": str(node.kwargs),
        "inputs": [input_.name for input_ in node.all_input_nodes],
    }
    described.update(described_value(node.meta.get("example_value")))
    if node.op == "placeholder":
        described.update(_input(node))
    elif node.op == "get_attr":
        described.update(_subgraph(node))
    place = user_line(node.meta.get("stack_trace"))
    if place is not None:
        described["file"], described["line"] = place
        called_from = line_of_call(node.meta.get("stack_trace"))
        if called_from is not None:
            described["called_from"] = called_from
    return described


def target_name(node: "Node") -> str:
    """The target of a node, `torch.abs` rather than `<built-in method abs of type object at 0x…>`."""
    if isinstance(node.target, str):
        return node.target
    from torch.fx.node import _get_qualified_name

    try:
        name = str(_get_qualified_name(node.target))
    except Exception:
        name = getattr(node.target, "__qualname__", None) or type(node.target).__qualname__
    return name.replace("_operator.", "operator.", 1) if name.startswith("_operator.") else name


def described_value(value: Any) -> dict[str, Any]:
    """The shape, stride, dtype and device of a node's value, with symbolic sizes by name."""
    import torch

    if isinstance(value, torch.Tensor):
        described: dict[str, Any] = {
            "shape": [_size(size) for size in value.shape],
            "dtype": str(value.dtype).removeprefix("torch."),
            "device": str(value.device),
        }
        if value.layout is torch.strided:
            described["stride"] = [_size(stride) for stride in value.stride()]
        if value.requires_grad:
            described["requires_grad"] = True
        return described
    if isinstance(value, (tuple, list)):
        return {"values": [described_value(item) for item in value]}
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return {"symbol": str(value)}
    return {}


def _size(size: Any) -> int | str:
    return size if type(size) is int else str(size)


def _input(node: "Node") -> dict[str, Any]:
    import torch

    source = getattr(node.meta.get("grapharg"), "source", None)
    described: dict[str, Any] = {}
    if source is not None:
        described["source"] = source_name(source)
    if isinstance(node.meta.get("example_value"), torch.nn.Parameter):
        described["parameter"] = True
    return described


def _subgraph(node: "Node") -> dict[str, str]:
    """The key of the graph that a higher-order operator takes, on which the outer graph's key depends."""
    import torch

    try:
        value = operator.attrgetter(str(node.target))(node.graph.owning_module)
    except AttributeError:
        return {}
    if not isinstance(value, torch.fx.GraphModule):
        return {}
    return {"subgraph": graph_key([_node(inner) for inner in value.graph.nodes], {})}

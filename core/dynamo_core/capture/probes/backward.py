"""Probe: the calls of backward graphs, which autograd makes, out of the sight of the forward's callable.

Source: torch/_inductor/output_code.py (CompiledFxGraph.post_compile), which gives a graph, fresh or from the
cache, what it will call: `current_callable`, the CUDA graph included. Read in 2.8 to 2.15; run with 2.13.
Backends that are not Inductor's keep their backward to themselves.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import BackwardCompiled
from ..frames.current_compile import compile_id_text, current_compile_id
from .device_time import timed_on_device

if TYPE_CHECKING:
    from ..engine_parts import EngineParts


def install(output_code: ModuleType, parts: "EngineParts") -> None:
    """Wrap `CompiledFxGraph.post_compile`."""
    probes, window, verifier = parts.probes, parts.window, parts.verifier
    counters = probes.stream.counters
    original = output_code.CompiledFxGraph.post_compile

    @probes.harmless("backward calls")
    def count_calls(graph: Any) -> None:
        if not graph.fx_kwargs.get("is_backward") or graph.current_callable is None or probes.stream.is_muted:
            return
        page = counters.new_page()
        if page is None:
            return
        compile_id = current_compile_id()
        compiled = graph.current_callable
        if window is not None:
            compiled = window.watch(compiled, None, compile_id_text(compile_id), is_backward=True)
        compiled = timed_on_device(compiled, lambda: counters.words_of(page))
        counted = counters.counted(compiled, page)
        graph.current_callable = counted if verifier is None else verifier.not_counted(compiled, counted)
        probes.stream.record(BackwardCompiled(calls_index=page), compile_id)

    def post_compile(self: Any, *rest: Any, **named: Any) -> Any:
        result = original(self, *rest, **named)
        count_calls(self)
        return result

    output_code.CompiledFxGraph.post_compile = post_compile

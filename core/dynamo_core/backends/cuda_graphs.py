"""The backend `cudagraphs` in a chain: what torch would run without CUDA graphs, it declines.

Source: torch/_dynamo/backends/cudagraphs.py (cudagraphs.forward_cudagraphs), 2.8 to 2.15, which logs why it
skips a graph and returns one that runs eagerly. Run with graphs on the CPU; not on a GPU.
"""

from collections.abc import Sequence
from typing import Any

from .compilers import Compiler
from .declined import Declined


def declining_what_cuda_graphs_skip(cudagraphs: Compiler) -> Compiler:
    """torch's backend, but Declined with torch's reason where a forward graph is not captured.

    A backward graph is compiled later, when the graph is taken: torch runs it eagerly if need be.
    """

    def decline(message: str) -> None:
        reason = message.rpartition("skipping cudagraphs due to ")[2]
        raise Declined(reason.partition(". Found from")[0])

    def compile_graph(gm: Any, example_inputs: Sequence[Any]) -> Any:
        from torch._dynamo.backends import cudagraphs as torchs

        log_skip = torchs.log_cudagraph_skip_and_bump_counter
        torchs.log_cudagraph_skip_and_bump_counter = decline
        try:
            return cudagraphs(gm, example_inputs)
        finally:
            torchs.log_cudagraph_skip_and_bump_counter = log_skip

    compile_graph.reset = getattr(cudagraphs, "reset", None)  # type: ignore[attr-defined]
    return compile_graph

"""Findings: graphs that run without CUDA graphs, and those of which many are recorded."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ..analysis.figures import Figures
from ..analysis.graphs.cuda_graphs import CudaGraphSkip, CudaGraphUse, cuda_graphs_of
from ..analysis.words import compile_label, number, place, seconds, version_numbers
from ..model import CompileId, Graph, Process
from ..remedies.rules import Advice, setting
from .build import remedies
from .finding import Cost, Draft, Evidence, Figure

_MANY = 8  # torch warns of more sizes, too (cudagraph_dynamic_shape_warn_limit)
# Nothing is in the way: the program, or somebody who looks for an error, has asked for it.
_ASKED_FOR = re.compile(r"override_cudagraphs|bisector|cudagraph_skip_dynamic_graphs|force_disable_cudagraph")


class _Why(NamedTuple):
    """What a CUDA graph cannot do, by torch's words, and what to do; some of it with Inductor only."""

    words: str
    cause: str
    advice: tuple[Advice, ...] = ()
    with_inductor: tuple[Advice, ...] = ()


_IN_PARTS = setting(
    "`torch._inductor.config.graph_partition = True` records what stands before and after it as CUDA graphs.",
    "torch._inductor.config.graph_partition",
    "True",
)
_HELD_IN_PLACE = Advice(
    "write new values into the tensor (`tensor.copy_(new)`) in place of putting another one there."
)
# Source: torch/_inductor/cudagraph_utils.py, cudagraph_trees.py and compile_fx.py, 2.8 to 2.15.
_REASONS = (
    _Why(
        "mutated inputs",
        "it writes into a tensor that comes from outside, which may be at another address in the next call",
        (
            Advice(
                "return the new value in place of writing it into the argument, and copy it there outside of "
                "the compiled function: `tensor.copy_(step(tensor))`."
            ),
        ),
        (
            Advice(
                "where it is one tensor in all calls, `torch._dynamo.mark_static_address(tensor)` before the "
                "first one lets the CUDA graph write into it."
            ),
        ),
    ),
    _Why(
        "cpu device",
        "a tensor of it is on the CPU, and a CUDA graph has only what the GPU does",
        (Advice("have that tensor on the GPU before the call."),),
        (_IN_PARTS,),
    ),
    _Why(
        "multiple devices",
        "its tensors are on several devices, and a CUDA graph is recorded on one",
        (Advice("have all of its tensors on one GPU."),),
    ),
    _Why("incompatible op", "a CUDA graph cannot have one of its operators", (), (_IN_PARTS,)),
    _Why(
        "still require backward",
        "outputs of an earlier step are alive with their graph, so that each call only warms up again",
        (
            Advice(
                "call `torch.compiler.cudagraph_mark_step_begin()` at the beginning of each step, and run "
                "the backward of a step before the next one, or under `torch.no_grad()` where there is none."
            ),
        ),
    ),
    _Why(
        "alive at each call",
        "a CUDA graph is recorded only where what the calls before it returned is no longer held, gradients "
        "too, or the program says that a new step begins",
        (
            Advice(
                "call `torch.compiler.cudagraph_mark_step_begin()` at the beginning of each step, and "
                "`clone()` what a step returns and a later one still reads: it is written over from then on."
            ),
        ),
    ),
    _Why(
        "static input data pointer changed",
        "a parameter, or another tensor that is taken to stay where it is, was elsewhere in many calls",
        (_HELD_IN_PLACE,),
    ),
)
_MARKED = "mark_static_address"
# torch's AOTAutograd cache did not tell graphs apart by what is marked (AOTAutogradCachePickler of
# torch/_functorch/_aot_autograd/autograd_cache.py: in 2.13, not in 2.8 to 2.12); seen with 2.11.
_TELLS_MARKED_APART = (2, 13)
_WITHOUT_CACHES = (
    " A graph that is in its caches already this torch takes from there, without the mark: give it new ones, "
    "`TORCHINDUCTOR_CACHE_DIR=…`."
)
_UNKNOWN = _Why("", "torch skips CUDA graphs for it")
_FEWER_SIZES = (
    Advice("pad what is passed to a few sizes."),
    setting(
        "`torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True` records none for sizes that "
        "vary.",
        "torch._inductor.config.triton.cudagraph_skip_dynamic_graphs",
        "True",
        "what has such sizes then runs without CUDA graphs, which may be slower",
    ),
)


def skipped_cuda_graphs(figures: Figures) -> Iterator[Draft]:
    """Graphs, or parts of them, that torch runs without CUDA graphs though the program asks for them."""
    for process, compile_id, graph, use in _uses(figures):
        for skip in use.skipped:
            if not _ASKED_FOR.search(skip.reason):
                yield _skipped(process, compile_id, graph, skip)


def _skipped(
    process: Process, compile_id: CompileId | None, graph: Graph | None, skip: CudaGraphSkip
) -> Draft:
    why = next((each for each in _REASONS if each.words in skip.reason), _UNKNOWN)
    line = skip.line
    with_inductor = why.with_inductor if graph and graph.backend == "inductor" else ()
    if process.torch_version and version_numbers(process.torch_version) < _TELLS_MARKED_APART:
        with_inductor = tuple(
            replace(each, text=each.text + _WITHOUT_CACHES) if _MARKED in each.text else each
            for each in with_inductor
        )
    advice = why.advice + with_inductor
    at = "" if line is None else f" at {place(line.place)}"
    return Draft(
        "CUDA graphs skipped",
        key=(why.words or skip.reason,),
        title=f"CUDA graphs skipped for {_named(compile_id, graph)}{at}: {skip.reason}",
        cause=why.cause,
        processes=(process,),
        place=line.place if line else getattr(graph, "frame_place", None),
        function=getattr(graph, "frame_name", None),
        source="" if line is None else line.text,
        evidence=_evidence(compile_id, graph, skip.reason),
        remedies=remedies("CUDA graphs skipped", advice),
    )


def many_cuda_graphs(figures: Figures) -> Iterator[Draft]:
    """Graphs that were recorded for more than a few sizes, or again and again."""
    for process, compile_id, graph, use in _uses(figures):
        recorded = number(use.recorded, "was", "were")
        spent = Figure(use.recording_seconds, "measured")
        for what, what_for, advice in _many(use):
            yield Draft(
                "many CUDA graphs",
                key=(what,),
                title=f"{_named(compile_id, graph)}: {what_for}",
                cause="a CUDA graph has one size and fixed addresses, and is recorded at the second call "
                f"with them: {recorded} recorded, in {seconds(use.recording_seconds)}",
                processes=(process,),
                place=getattr(graph, "frame_place", None),
                function=getattr(graph, "frame_name", None),
                cost=Cost(spent, saves_at_most=spent),
                evidence=_evidence(compile_id, graph, None, use.recorded),
                remedies=remedies("many CUDA graphs", advice),
            )


def _many(use: CudaGraphUse) -> Iterator[tuple[str, str, tuple[Advice, ...]]]:
    """What there are many for (the same in each run), the words for it, and what to do about it."""
    if use.sizes > _MANY:
        yield "sizes", f"{use.sizes} sizes, each with a CUDA graph of its own", _FEWER_SIZES
    for why, times in use.recorded_again.items():
        if times > _MANY:
            advice = (_HELD_IN_PLACE,) if why == "an input at another address" else ()
            yield why, f"recorded as a CUDA graph {times} times more, for {why}", advice


def _uses(figures: Figures) -> Iterator[tuple[Process, CompileId | None, Graph | None, CudaGraphUse]]:
    for process in figures.recording.processes:
        graphs = {graph.compile_id: graph for graph in reversed(process.graphs)}
        for compile_id, use in cuda_graphs_of(process).items():
            yield process, compile_id, graphs.get(compile_id), use


def _named(compile_id: CompileId | None, graph: Graph | None) -> str:
    if graph is None:
        return "a graph"
    return f"graph {graph.number} {compile_label(compile_id)}"


def _evidence(
    compile_id: CompileId | None, graph: Graph | None, words: str | None, times: int = 1
) -> Evidence:
    return Evidence(
        compile_ids=() if compile_id is None else (str(compile_id),),
        graphs=() if graph is None else (graph.number,),
        records=() if words is None else (words,),
        times=times,
    )

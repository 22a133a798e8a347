"""Findings: time that steps spend outside of compiled graphs: eager code, optimizers, loaders."""

import re
from collections.abc import Container, Iterator

from ..analysis.figures import Figures, computed_seconds
from ..analysis.summary import probe_failed
from ..analysis.time.wall import GUARDS, coverage, sum_seconds
from ..analysis.words import graph_frame, number, place, seconds
from ..model import CompileId, Graph, Optimizer, Place, Process, StackFrame, UnrolledLoop, WindowSpan
from ..remedies.rules import Advice
from .build import remedies, remedy
from .finding import NOT_RECORDED, WORTH_A_WORD_S, Cost, Draft, Evidence, Figure, Known

_MUCH = 0.1  # of the time that it is compared with


def time_outside_of_graphs(figures: Figures) -> Iterator[Draft]:
    """More than half of the run outside of graphs; with --profile, the operator that costs most there.

    Not in a run with --verify, whose comparisons are outside of graphs. Nor where no `dynamo run` started the
    process, a notebook's kernel for one: it may wait for its user, and its CPU time is not recorded.
    """
    run = figures.recording.run
    if figures.recording.settings.verify is not None or (run is not None and not run.has_launcher):
        return
    for process in figures.recording.processes:
        wall, outside = figures.wall(process), figures.outside_seconds(process)
        if wall is None or outside is None or outside < max(0.5 * wall.seconds, WORTH_A_WORD_S):
            continue
        if not figures.graph_times_of(process) or _only_waits(process, figures, wall.seconds, outside):
            continue
        where, which = _worst_operator(process)
        yield Draft(
            "time outside of graphs",
            key=(),
            title=f"{seconds(outside)} of {seconds(wall.seconds)} were spent outside of compiled graphs",
            cause=which or "on what was not recorded",
            processes=(process,),
            place=where,
            cost=Cost(
                Figure(outside, "measured"),
                saves_at_most=Figure(figures.most_won(process), "estimated"),
            ),
            remedies=remedy(
                "time outside of graphs",
                "compile what calls it, too."
                if which
                else "`dynamo run --profile` says on which operators, and on which lines.",
            ),
        )


def _only_waits(process: Process, figures: Figures, wall_seconds: float, outside: float) -> bool:
    """Whether what was recorded shows that the time outside of graphs was hardly spent on computing.

    By the operators in steady steps of --profile, else by the CPU time of the process, or of the run.
    """
    window = process.profiling.window
    if window is not None and window.eager:
        return sum_seconds(window.eager) < _MUCH * window.seconds
    computed, run = computed_seconds(process), figures.recording.run
    if computed is not None:
        return computed < 0.5 * outside
    if run is None or run.cpu_seconds is None or not figures.is_in_cpu_time(process):
        return False
    return run.cpu_seconds < 0.5 * wall_seconds


def _worst_operator(process: Process) -> tuple[Place | None, str]:
    window = process.profiling.window
    if window is None or not window.eager:
        return None, ""
    inside = coverage(window)["time"]
    worst = max(window.eager, key=lambda operator: operator.seconds)
    where = f" at {place(worst.place)}" if worst.place is not None else ""
    share = (
        "" if inside is None else f"in a steady step {1 - inside:.0%} of the time in operators is outside, "
    )
    return worst.place, f"{share}{worst.name}{where} costs most"


def slow_loader(figures: Figures) -> Iterator[Draft]:
    """Waiting for a DataLoader, as the window of --profile saw it."""
    for process in figures.recording.processes:
        window = process.profiling.window
        waits = [span for span in (() if window is None else window.spans) if span.kind == "loader"]
        waited = sum(span.seconds for span in waits)
        if window is None or not waits or waited < _MUCH * window.seconds:
            continue
        each = waited / window.steps
        lines = dict.fromkeys(place(where) for span in waits for where in span.places)
        where = f", called at {', '.join(lines)}" if lines else ""
        yield Draft(
            "slow loader",
            key=(),
            title=f"steps wait for the DataLoader: {seconds(each)} in each",
            cause=f"{waited / window.seconds:.0%} of the time in steady steps passes in its __next__{where}",
            processes=(process,),
            cost=Cost(per_step=Figure(each, "measured"), saves_at_most=Figure(waited, "measured")),
            evidence=Evidence(
                records=tuple(f"enumerate(DataLoader)#{span.name}.__next__" for span in waits),
                times=sum(span.calls for span in waits),
            ),
            remedies=remedy("slow loader", _faster_loading({span.name for span in waits})),
        )


def _faster_loading(iterators: Container[str]) -> str:
    """By torch's classes of iterators, in torch/utils/data/dataloader.py: one of them has workers already."""
    if "_MultiProcessingDataLoaderIter" in iterators:
        return "its workers do not keep up: have more of them (`num_workers`), or do less in the dataset."
    return "let workers load ahead: `DataLoader(..., num_workers=N)`, or do less in the dataset."


def eager_optimizer(figures: Figures) -> Iterator[Draft]:
    """Optimizers of a program that trains compiled graphs, whose step is in no graph itself."""
    for process in figures.recording.processes:
        graphs = process.compiled_graphs
        if not any(graph.trains for graph in graphs) or any(g.optimizer_steps is None for g in graphs):
            continue
        in_graphs = {file for graph in graphs for file in graph.optimizer_steps or ()}
        for optimizer in process.optimizers:
            if optimizer.file in in_graphs:
                continue
            name = f"{optimizer.module}.{optimizer.name}"
            share, of_closure, cost = "", "", Cost()
            window, span = process.profiling.window, _steps_of(optimizer, process)
            if window is not None and span is not None:
                spent = span.seconds - span.in_graphs_seconds
                each = spent / window.steps
                known: Known = "measured"
                share = f"; {seconds(each)} of each step, {spent / window.seconds:.0%} of it"
                if span.in_graphs_seconds:
                    known = "estimated"  # how much of it is the closure's was not measured
                    of_closure = "; its time holds what its closure does outside of compiled graphs"
                cost = Cost(per_step=Figure(each, known), saves_at_most=Figure(spent, known))
            yield Draft(
                "eager optimizer",
                key=(name,),
                title=f"the step of {name} runs eager{share}",
                cause=f"it is called outside of what is compiled{of_closure}",
                processes=(process,),
                cost=cost,
                remedies=remedy(
                    "eager optimizer",
                    "compile it as well: `step = torch.compile(optimizer.step)`, called in its place.",
                ),
            )


def _steps_of(optimizer: Optimizer, process: Process) -> WindowSpan | None:
    """Its steps in the profiled window, where torch names the class alone; None where that is not enough."""
    names = [each.name.rpartition(".")[2] for each in process.optimizers]
    name = optimizer.name.rpartition(".")[2]
    if process.profiling.window is None or names.count(name) > 1:
        return None
    spans = process.profiling.window.spans
    return next((span for span in spans if (span.kind, span.name) == ("optimizer step", name)), None)


# Findings: what is paid for each call of a compiled graph, whatever it does.


_WORTH_A_WORD = 1000  # calls, of some 10 us; a short run of a long program has as many
_OVERHEAD_S = 10e-6  # of one call of a compiled graph, about (benchmarks/call_cost.py)


def overhead_bound_graphs(figures: Figures) -> Iterator[Draft]:
    """Graphs that are called often for so little that calling them costs as much as what they do."""
    for process in figures.recording.processes:
        small = [each for each in figures.graph_times_of(process) if each.is_overhead_bound]
        calls = sum(each.times.calls for each in small)
        if calls < _WORTH_A_WORD:
            continue
        spent = sum(each.seconds for each in small)
        yield Draft(
            "overhead-bound graphs",
            key=(),
            title=f"{number(len(small), 'graph is', 'graphs are')} overhead-bound: {calls:,} calls "
            f"took {seconds(spent)}",
            cause="calling a compiled graph, and checking its guards, takes longer than what the graph does",
            processes=(process,),
            cost=Cost(saves_at_most=Figure(min(spent, calls * _OVERHEAD_S), "estimated")),
            evidence=Evidence(graphs=tuple(each.graph.number for each in small), times=calls),
            remedies=remedy(
                "overhead-bound graphs",
                "compile what calls them instead, so that they become one graph; resolve the breaks between "
                'them; on a GPU, `torch.compile(..., mode="reduce-overhead")` has CUDA graphs.',
            ),
        )


def costly_guards(figures: Figures) -> Iterator[Draft]:
    """Guards that take much of the run."""
    for process in figures.recording.processes:
        wall = figures.wall(process)
        part = None if wall is None else wall.part(GUARDS)
        if wall is None or part is None or (part.seconds or 0.0) < max(_MUCH * wall.seconds, WORTH_A_WORD_S):
            continue
        took = part.seconds or 0.0
        yield Draft(
            "costly guards",
            key=(),
            title=f"guards take {seconds(took)}",
            cause=f"what is checked before each call takes {took / wall.seconds:.0%} of the run",
            processes=(process,),
            cost=Cost(Figure(took, "sampled"), saves_at_most=Figure(took, "sampled")),
            remedies=remedy(
                "costly guards", "`dynamo guards` lists what is checked, by the line that asks for it."
            ),
        )


# Findings: compiling that costs more than it can bring back.


_COMPILE_LESS = (
    "compile less: the part that is called most, or nothing; over more steps it may pay, `dynamo bench` "
    "measures after how many."
)


def never_pays_back(figures: Figures) -> Iterator[Draft]:
    """Compiling that took longer than the graphs ran: they have to be twice as fast as eager at least.

    Of a program that failed, how long they would have run is not known.
    """
    run = figures.recording.run
    if run is not None and run.exit_code:
        return
    for process in figures.recording.processes:
        if probe_failed([process], "graphs", "graph calls", "backward calls") is not None:
            continue
        compiling = sum(compile_.seconds or 0.0 for compile_ in process.compiles)
        inside = sum(each.seconds for each in figures.graph_times_of(process))
        debugging = _backend_for_debugging(process)
        if inside <= 0 or (compiling < inside and debugging is None):
            continue
        advice = (*_without_backward(process), _COMPILE_LESS)
        if debugging is not None:
            advice = (_GENERATE_CODE.format(debugging),)
        goes_back = any(graph.backward is not None and graph.backward.calls for graph in process.graphs)
        both = ", forward and backward" if goes_back else ""
        ran = f"the compiled graphs ran {seconds(inside)} in all{both}"
        yield Draft(
            "never pays back",
            key=(),
            title=f"compiling took {seconds(compiling)}, {ran}",
            cause=_when_it_pays(1 + compiling / inside, debugging),
            processes=(process,),
            cost=Cost(Figure(compiling, "measured"), saves_at_most=Figure(compiling, "estimated")),
            remedies=remedies("never pays back", map(Advice, advice)),
        )


# Source: torch/_dynamo/backends/debugging.py, read in 2.8, 2.13 and 2.15: they run the graph op by op.
_FOR_DEBUGGING = (
    *("eager", "eager_noexcept", "eager_debug", "pre_dispatch_eager", "aot_eager"),
    *("aot_eager_default_partitioner", "aot_eager_decomp_partition", "aot_eager_decomp_partition_with_mode"),
)
_GENERATE_CODE = (
    'leave out `backend="{}"`, unless you look for an error with it: the default, `inductor`, generates '
    "code; `dynamo bench` measures what it wins."
)


def _backend_for_debugging(process: Process) -> str | None:
    """The one backend of all graphs, where the program itself asks for one that generates no code."""
    used = {graph.backend for graph in process.compiled_graphs}
    if len(used) != 1 or process.entire.capture_began or process.interventions.overrides:
        return None
    (backend,) = used
    return backend if backend in _FOR_DEBUGGING else None


def _when_it_pays(times: float, debugging: str | None) -> str:
    if debugging is not None:
        return f"it cannot pay back: the backend `{debugging}`, for debugging, generates no code"
    as_fast = f"{times:,.0f}" if times >= 10 else f"{times:.1f}"
    return f"it pays back in this run only if they are more than {as_fast} times as fast as eager"


def _without_backward(process: Process) -> Iterator[str]:
    """Where gradients could be asked for of what Inductor compiled, and no backward was compiled or ran."""
    graphs = process.compiled_graphs
    of_others = any(graph.backend != "inductor" or graph.backward_index is not None for graph in graphs)
    ops = sum(sum(pair.backward.values()) for pair in process.pairs)
    if ops and not of_others and not process.optimizers and process.runtime.end is not None:
        yield (
            "call it under `torch.no_grad()` or `torch.inference_mode()`, where no gradients are needed: no "
            f"backward ran, and AOTAutograd prepared one of {number(ops, 'op')}."
        )


# Findings: loops of the program's that make a graph large, and its first step slow.


# A loop over numbers goes over parts of a tensor, say; what another loop goes over are layers, most often.
_OVER_NUMBERS = re.compile(r"\brange\(")
# Over parameters, in code that the user neither writes nor can compile in parts.
_OF_OPTIMIZERS = re.compile(r"/torch/optim/")
_AT_ONCE = (
    "compute over all of it at once in place of one after the other (a dimension more, stacked slices, "
    "a convolution): then there is one op for each in the loop's body. Where each turn needs what the one "
    "before it gave, make the body a function of the tensors that it works on (of `xs[t]`, not of `t`), and "
    "compile that one in place of the whole: the first step is fast then, and later ones are slower, as each "
    "turn is a call; measure it. Or make the loop shorter."
)
_COMPILE_ONCE = (
    "compile what is repeated, and not the whole (regional compilation): `layer.compile()` on each layer in "
    "place of the model, as layers of one class share what is compiled. To keep one graph, mark the repeated "
    "function with `torch.compiler.nested_compile_region`; that can take longer, too: measure it."
)


def unrolled_loops(figures: Figures) -> Iterator[Draft]:
    """The loop from which most of a large graph comes that took long to compile."""
    for process in figures.recording.processes:
        loops = [(graph, graph.loop) for graph in process.compiled_graphs if graph.loop is not None]
        large = [(graph, loop) for graph, loop in loops if not _OF_OPTIMIZERS.search(loop.place.file)]
        took = _compile_seconds(process) if large else {}
        for graph, loop in large:
            if (seconds_of_its_frame := took.get(graph.compile_id, 0.0)) >= WORTH_A_WORD_S:
                yield _of_graph(process, graph, loop, seconds_of_its_frame)


def _compile_seconds(process: Process) -> dict[CompileId | None, float]:
    """What each compile took, with the backward."""
    took: dict[CompileId | None, float] = {}
    for compile_ in process.compiles:
        took[compile_.compile_id] = took.get(compile_.compile_id, 0.0) + (compile_.seconds or 0.0)
    return took


def _of_graph(process: Process, graph: Graph, loop: UnrolledLoop, took: float) -> Draft:
    where = loop.called_from or loop.place
    name = graph_frame(graph)
    what = "a loop" if loop.is_loop else "one function"
    copied = "unrolls loops: most ops of this one are" if loop.is_loop else "inlines calls: this function is"
    return Draft(
        "unrolled loop",
        key=(),
        title=f"{loop.ops:,} of the {number(graph.ops, 'op')} of {name} come from {what}, at {place(where)}",
        cause=f"Dynamo {copied} {loop.times:,} times in graph {graph.number}, each of them traced and "
        "compiled anew",
        effect=f"compiling the frame took {seconds(took)}",
        processes=(process,),
        place=where,
        function=graph.frame_name,
        source=loop.text,
        via=None if loop.called_from is None else StackFrame(loop.place, "", loop.text),
        cost=Cost(saves_at_most=_saved_by_one_turn(graph, loop, took)),
        evidence=Evidence((str(graph.compile_id),), (graph.number,)),
        remedies=remedy("unrolled loop", _AT_ONCE if _OVER_NUMBERS.search(loop.text) else _COMPILE_ONCE),
    )


def _saved_by_one_turn(graph: Graph, loop: UnrolledLoop, took: float) -> Figure:
    """What all turns but one took, by their ops. Of layers it is not known: any model has as many."""
    if not _OVER_NUMBERS.search(loop.text):
        return NOT_RECORDED
    return Figure(took * loop.ops / (graph.ops or loop.ops) * (1 - 1 / loop.times), "estimated")

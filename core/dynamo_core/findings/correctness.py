"""Findings: graphs that computed something else than eager, of a run with --verify."""

import re
from collections.abc import Collection, Iterator, Sequence

from ..analysis.figures import Figures
from ..analysis.ranks.differences import collective_difference
from ..analysis.ranks.members import Side, ranks_in_words, ranks_of
from ..analysis.verdict import declined_because, short_backend, untaken_sentence
from ..analysis.verification import (
    ProgramCall,
    Verification,
    VerifiedGraph,
    graph_text,
    node_text,
    off_text,
    since_text,
    structure_text,
    verification,
    wrong_backend,
    wrong_call_text,
    wrong_structure,
)
from ..analysis.words import place, without_numbers
from ..model import Graph, Place, Process, ProcessEnd, StackFrame, VerifiedProgramCall
from ..remedies.rules import Advice, setting
from ..shared.names import BEFORE, GRADIENT, MORE_EXACT
from .build import WHOSE_ERROR, remedies, remedy
from .finding import Cost, Draft, Evidence, Figure
from .stale_code import came_from_caches, may_be_stale, to_empty_the_cache

_STALE = "code out of torch's cache expects another size or stride than an operator gives"
_REPORT_IT = (
    "`dynamo run --verify {option} …` shows whether it is the backend, with your program "
    "in place of `…`; `dynamo repro` makes a small program that fails alone, to report it."
)


_RIGHT_WITH = (
    'with `backend="{backend}"` the call gives what plain Python gives, as was tried; `dynamo repro` '
    "makes a small program that fails alone, for an issue of PyTorch, of the backend or of a pass "
    "that the program adds to Inductor."
)
_AS_DECLARED = (
    "let `{operator}` do what it declares: it {undeclared}, as was seen; compilers go by what it declares, "
    "and `torch.library.opcheck` tests that."
)
_OF_AN_OPERATOR = (
    "`torch.library.opcheck` says whether `{operator}` does what it declares, such as `mutates_args`; "
)
# Of a namespace that is none of torch's own.
_OWN_OPERATOR = re.compile(r"torch\.ops\.(?!(?:aten|prims?|higher_order|inductor|quantized|_?c10d\w*)\.)")
_OF_A_BACKEND = (
    "the backend `{backend}` is at fault: with `aot_eager` in its place the call gives what plain Python "
    "gives, as was tried; `dynamo repro` makes a small program that fails alone, for its author."
)
_RETURN_AS_THE_GRAPH = (
    "let what the backend makes return what the graph returns, in its order: always a tuple or list, also of "
    "one value."
)
_NAMED = 3  # graphs that the same backend gave back wrong, besides the first
_CALCULATE_EACH_TIME = (
    "let what the backend makes calculate its result in each call, from the values that it is given: it "
    "keeps what the first call gave."
)
_WRITE_NO_INPUT = (
    "let what the backend makes write none of its inputs: they are the program's own tensors. It may write a "
    "copy (`clone`)."
)
_BY_STAGE = {
    "AOTAutograd": _RIGHT_WITH.format(backend="eager"),
    "tracing": "make a function of that line alone, and put `torch.compiler.disable` on it: the rest stays "
    "in graphs; `dynamo repro` makes a small program that fails alone, for an issue of PyTorch.",
    "guards": "pass what changed as an argument, so that torch guards it, or call `torch.compiler.reset()` "
    "after it has changed.",
}

_KEEP_CASTS = (
    "`torch._inductor.config.emulate_precision_casts = True` keeps the casts that Inductor leaves out: with "
    "it the call gives what plain Python gives, as was tried."
)


def wrong_results(figures: Figures) -> Iterator[Draft]:
    """One for each function of the program that disagrees; in processes without one, for each such graph.

    Beside these, one for each backend whose graphs return another structure than was asked for.
    """
    found = verification(figures.recording)
    for process in figures.recording.processes:
        if found is None or wrong_structure(process, found) is None:
            yield from _wrong_structures(process)
    if found is None:
        return
    for each in found.wrong_calls:
        yield _wrong_call(each, found)
    explained = {id(each.process) for each in found.wrong_calls}
    for graph in found.wrong:
        if id(graph.process) not in explained:
            yield _wrong_graph(graph, figures)


def _wrong_call(each: ProgramCall, found: Verification) -> Draft:
    call = each.call
    others = {known.call.function_place for known in found.program_calls} - {call.function_place}
    wrong = [
        graph.wrong_call
        for graph in found.wrong
        if graph.process is each.process and graph.graph.frame_place not in others
    ]
    nodes = [known.node for known in wrong if known is not None and known.node is not None]
    is_known = call.operation is not None or call.stage in ("tracing", "guards")
    node = nodes[0] if nodes and not (is_known and call.wrong_place) else None
    structure = wrong_structure(each.process, found, each)
    drawn = _drawn_for_numpy(each.process, call, others)
    where = None if structure else (node.place if node is not None else None) or call.wrong_place
    if drawn is not None:
        where = drawn.place
    reused = _reused(call)
    own = [graph for graph in each.process.compiled_graphs if graph.frame_place not in others]
    is_stale = may_be_stale(each.process, own, call)
    known = _STALE if is_stale else structure or reused
    if reused is not None or is_stale:
        where = None
    since = since_text(call)
    first_node = "" if node is None else f"first wrong node: {node_text(node)}"
    return Draft(
        "wrong result",
        key=(call.name, call.kind or "", call.path or ""),
        title=f"{each.name}: {known}" if known else _title(each, where),
        cause=f"call {call.call}, {wrong_call_text(call)}",
        effect=structure or "; ".join(filter(None, (since, first_node))),
        processes=(each.process,),
        place=where or call.function_place or call.compiled_at,
        function=call.name,
        remedies=remedy(
            "wrong result",
            _of_the_backend(structure)
            or (_DRAW_BEFORE if drawn is not None else "")
            or (to_empty_the_cache(each.process) if is_stale else "")
            or _of_kind(call)
            or _of_stage(call, each.process),
        ),
    )


def _reused(call: VerifiedProgramCall) -> str | None:
    """In words, where a backend gave or changed again what it had returned, and no line is to blame."""
    path = call.path or ""
    if not path.startswith(BEFORE) or wrong_backend(call) is None:
        return None
    given = path.removeprefix(BEFORE)
    return f"call {call.call} reused the memory of {given}, which the call before had returned"


def _of_the_backend(did: str | None) -> str:
    """What to do about what the backend did to a whole graph; "" where nothing is known of that."""
    if did is None:
        return ""
    if " wrote " in did:
        return _WRITE_NO_INPUT
    return _CALCULATE_EACH_TIME if "returned in this call what it gave" in did else _RETURN_AS_THE_GRAPH


def _title(each: ProgramCall, where: Place | None) -> str:
    """With the line that is to blame where it is known, else with where the function was compiled."""
    path = each.call.path or ""
    is_of_backward = path.startswith(GRADIENT)
    differs = " gives something else than plain Python"
    if is_of_backward:
        differs = f": the {path} is not plain Python's"
    elif each.call.kind == "exception":
        differs = " does not end as in plain Python"
    if where is None:
        return f"{each.name}{'' if is_of_backward else ','}{differs}"
    is_of_a_compiler = where == each.call.wrong_place and each.call.stage not in ("tracing", "guards")
    operation = each.call.operation if is_of_a_compiler else None
    at = place(where) if operation is None else f"{place(where)} ({operation})"
    return f"{each.call.name}{differs}, from {at} on"


def _of_kind(call: VerifiedProgramCall) -> str:
    """What to do about a kind of difference, whatever its stage; "" where that goes by the stage."""
    return _KEEP_CASTS if call.kind == MORE_EXACT else ""


_OF_THE_CAPTURE = (
    "`dynamo run --capture none` runs the program as it is. A captured program is to compute what plain "
    "Python does: that it does not is a fault of `dynamo run`, to be reported with the recording "
    "(`dynamo bundle`)."
)


def _of_stage(call: VerifiedProgramCall, process: Process) -> str:
    """What to do where a stage is the first wrong one."""
    if (backend := wrong_backend(call)) is not None:
        return _OF_A_BACKEND.format(backend=short_backend(backend))
    if call.undeclared is not None:
        return _AS_DECLARED.format(operator=call.operation, undeclared=call.undeclared)
    if process.is_captured_now:
        return _OF_THE_CAPTURE
    if call.stage is None:
        return _report_it(process)
    known = _BY_STAGE.get(call.stage) or _RIGHT_WITH.format(backend="aot_eager")
    if call.stage in ("tracing", "guards") or not _OWN_OPERATOR.match(call.operation or ""):
        return known
    return _OF_AN_OPERATOR.format(operator=call.operation) + known


def _wrong_structures(process: Process) -> Iterator[Draft]:
    """Dynamo takes what a backend returns for a tuple: of a tensor it takes rows."""
    wrong: dict[str | None, list[Graph]] = {}
    for graph in process.graphs:
        if graph.returned_otherwise:
            wrong.setdefault(graph.backend, []).append(graph)
    for backend, (graph, *others) in wrong.items():
        what = (graph.returned_otherwise or "").replace("the backend", f"the backend `{backend}`", 1)
        more = f", and in {', '.join(f'graph {each.number}' for each in others[:_NAMED])}" if others else ""
        more += f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        yield Draft(
            "wrong result",
            key=(backend or "", "structure"),
            title=f"{what}, in graph {graph.number} ({graph.frame_name}){more}",
            cause="",
            processes=(process,),
            place=graph.frame_place,
            function=graph.frame_name,
            evidence=Evidence(
                tuple(str(each.compile_id) for each in (graph, *others) if each.compile_id is not None),
                tuple(each.number for each in (graph, *others)),
            ),
            remedies=remedy("wrong result", _RETURN_AS_THE_GRAPH),
        )


def _wrong_graph(each: VerifiedGraph, figures: Figures) -> Draft:
    call, graph = each.wrong_call, each.graph
    assert call is not None
    node = call.node
    by = "" if graph.backend is None else f", as backend {graph.backend} computes it,"
    return Draft(
        "wrong result",
        key=(graph.key or "", node.target if node is not None else ""),
        title=f"{graph_text(each, figures.recording)}{by} disagrees with eager",
        cause=f"call {call.call}, {off_text(call.first_wrong)}",
        effect="" if node is None else f"first wrong node: {node_text(node)}",
        processes=(each.process,),
        place=(node.place if node is not None else None) or graph.frame_place,
        function=graph.frame_name,
        evidence=Evidence(() if graph.compile_id is None else (str(graph.compile_id),), (graph.number,)),
        remedies=remedy("wrong result", _of_the_backend(structure_text(call)) or _report_it(each.process)),
    )


# What torch refuses to do with compiled code, by the function that does.
# Source: torch/_functorch/_aot_autograd/runtime_wrappers.py, read in 2.8, 2.13 and 2.15; run with 2.13.
_AROUND = "torch._functorch._aot_autograd.runtime_wrappers."
_REFUSED = {
    f"{_AROUND}backward": (
        "compiled code has no gradient of a gradient",
        Advice(
            "where the program asks for `create_graph=True`, call the module itself and not what "
            "`torch.compile` made of it: `torch.compile(module)` leaves `module` as it is, with the same "
            "parameters. All other calls can stay compiled."
        ),
    ),
    f"{_AROUND}_backward_impl": (
        "the compiled backward may write over what was saved for it, and the program keeps that",
        setting(
            "set `torch._functorch.config.donated_buffer = False` before the first compiled call: a backward "
            "may then keep its graph (`retain_graph=True`, `create_graph=True`) after one that did not.",
            "torch._functorch.config.donated_buffer",
            "False",
            "memory: what is saved for a backward is not used again by it",
        ),
    ),
    f"{_AROUND}saved_tensors": (
        "a compiled graph has one backward for all that it returns, and it ran a second time",
        Advice(
            "call one backward for all losses that come from one compiled call, "
            "`torch.autograd.backward([loss_1, loss_2])`, which adds up the same gradients. Where each needs "
            "a backward of its own, `retain_graph=True` in all but the last."
        ),
    ),
    "torch.nn.modules.module.load_state_dict": (
        "the names of what is loaded and those of the module differ by `_orig_mod.`",
        Advice(
            "save and load by the module that is passed to `torch.compile`, as `model.state_dict()` (what "
            "`torch.compile` returns has `_orig_mod.` in front of each name), or compile it in place, "
            "`model.compile()`. Names of a file that is there already: `{name.replace('_orig_mod.', ''): "
            "value for name, value in saved.items()}`."
        ),
    ),
}


def _refusal(end: ProcessEnd) -> tuple[str, Advice] | None:
    """Why torch refused what ended a process, and what to do; None where it did not."""
    return _REFUSED.get(end.refused_by or "") if end.raised == "RuntimeError" else None


def refused_by_torch(figures: Figures) -> Iterator[Draft]:
    """One for each process that ended since torch refuses to go on with compiled code: a backward, names."""
    for process in figures.recording.processes:
        end = process.runtime.end
        if end is None or process.raised_at is None or (refusal := _refusal(end)) is None:
            continue
        why, advice = refusal
        yield Draft(
            "error with compiled code",
            key=(why,),
            title=f"RuntimeError at {place(process.raised_at)} ended the program: {why}",
            cause="",
            processes=(process,),
            place=process.raised_at,
            function=end.raised_in,
            remedies=remedies("error with compiled code", [advice]),
        )


def raised_in_graphs(figures: Figures) -> Iterator[Draft]:
    """One for each process that an exception ended, and in which a call of a compiled graph raised.

    Where `dynamo run` compiled the program, eager has answered such a call.
    """
    for process in figures.recording.processes:
        end, disagrees = process.runtime.end, process.interventions.verified_program_calls
        is_known = any(call.outcome == "disagrees" for call in disagrees)
        if end is None or not process.ended_in_a_graph or process.is_captured_now or is_known:
            continue
        if _refusal(end) is not None:
            continue
        graph = next(
            each for each in process.graphs for times in (each.times, each.backward) if times and times.raised
        )
        at = "" if process.raised_at is None else f" at {place(process.raised_at)}"
        advice = _of_operators(sorted(graph.custom_operators)) + WHOSE_ERROR
        if end.raised == "AssertionError" and came_from_caches(process, [graph]):
            advice = f"{to_empty_the_cache(process)} If it comes with empty caches, too: {advice}"
        yield Draft(
            "error with compiled code",
            key=(end.raised or "",),
            title=f"{end.raised}{at} ended the program; a call of compiled graph {graph.number} raised",
            cause="",
            processes=(process,),
            place=process.raised_at or graph.frame_place,
            function=graph.frame_name,
            evidence=Evidence(() if graph.compile_id is None else (str(graph.compile_id),), (graph.number,)),
            remedies=remedy("error with compiled code", advice),
        )


def _of_operators(names: Sequence[str]) -> str:
    if not names:
        return ""
    listed = ", ".join(f"`{each}`" for each in names)
    return (
        f"`torch.library.opcheck` says whether an operator of the program's own ({listed}) gives what its "
        "fake kernel declares; "
    )


def _report_it(process: Process) -> str:
    """What to do, with the option that replaces the backend: `--override` is for the program's own calls."""
    is_captured = process.entire.is_captured_now
    option = "--backend aot_eager" if is_captured else "--override backend=aot_eager"
    return _REPORT_IT.format(option=option)


# Finding: random numbers that are NumPy's in plain Python are torch's in a graph.


_DRAW_BEFORE = (
    "draw the numbers before the call of what is compiled, and pass them in. Or set "
    "`torch._dynamo.config.use_numpy_random_stream = True`: the line then stays NumPy's, and the graph "
    "breaks at it."
)


def _drawn_for_numpy(
    process: Process, call: VerifiedProgramCall, others: Collection[Place | None]
) -> StackFrame | None:
    """The line that explains why a call is wrong since tracing; None where none does.

    `others` are the functions of other calls, whose graphs explain nothing of this one.
    """
    graphs = (graph for graph in process.compiled_graphs if graph.frame_place not in others)
    lines = (graph.drawn_for_numpy for graph in graphs if graph.drawn_for_numpy is not None)
    return next(lines, None) if call.stage == "tracing" else None


def other_random_numbers(figures: Figures) -> Iterator[Draft]:
    """One for each line."""
    for process in figures.recording.processes:
        drawing = {graph.drawn_for_numpy: graph for graph in reversed(process.compiled_graphs)}
        for line, graph in drawing.items():
            if line is None:
                continue
            yield Draft(
                "other random numbers",
                key=(),
                title=f"the random numbers at {place(line.place)} are torch's when compiled, not NumPy's",
                cause="torch traces functions of `np.random` as its own, which go by `torch.manual_seed` and "
                "not by `np.random.seed`",
                processes=(process,),
                place=line.place,
                function=graph.frame_name,
                source=line.text,
                evidence=Evidence((str(graph.compile_id),), (graph.number,)),
                remedies=remedy("other random numbers", _DRAW_BEFORE),
            )


# Finding: the ranks of a distributed run were not given the same graphs, which makes collectives hang.


_MAKE_ALIKE = (
    "what the program branches on before those lines (a flag, a size, the rank itself) has to be the same on "
    "all ranks; `dynamo ranks` shows the lines."
)


def ranks_differ(figures: Figures) -> Iterator[Draft]:
    """The first collective that the ranks do not all call: those behind it follow from it."""
    ranks = ranks_of(figures.recording)
    difference = collective_difference(ranks) if len(ranks) > 1 else None
    if difference is None:
        return
    sides = difference.sides
    side = next(side for side in sides if side.graph is not None)
    graph = ranks[side.ranks[0]].graphs[(side.graph or 1) - 1]
    yield Draft(
        "ranks differ",
        key=("collectives",),
        title=f"{difference.title}: {'; '.join(map(_side, sides))}",
        cause="a collective ends when every rank of its group has called it: in another order, they wait for "
        "each other for good",
        processes=tuple(ranks.values()),
        place=side.place,
        function=graph.frame_name,
        remedies=remedy("ranks differ", _MAKE_ALIKE),
    )


def _side(side: Side) -> str:
    where = "" if side.place is None else f" at {place(side.place)}"
    return f"{ranks_in_words(side.ranks)}: {side.what}{where}"


# Findings: graphs that none of the backends that were named took, so that they run eager.


def _add_one(graph: Graph) -> str:
    declined = () if graph.assigned_backend is None else graph.assigned_backend.declined
    asked = ",".join(short_backend(each.backend) for each in declined)
    return (
        f"add a backend that takes such graphs (`--backend {asked},inductor`), or do what the reason says "
        f"({declined_because(graph)}); `dynamo backends --check` shows which ones work here."
    )


def not_taken(figures: Figures) -> Iterator[Draft]:
    """One for each graph."""
    for process in figures.recording.processes:
        for graph in process.graphs:
            if not graph.is_untaken:
                continue
            spent = graph.host_seconds
            compile_ids = () if graph.compile_id is None else (str(graph.compile_id),)
            yield Draft(
                "backend declined",
                key=(graph.key or "", without_numbers(declined_because(graph))),
                title=untaken_sentence(graph, process, figures.recording),
                cause=declined_because(graph),
                processes=(process,),
                place=graph.frame_place,
                function=graph.frame_name,
                cost=Cost() if spent is None else Cost(saves_at_most=Figure(spent, "estimated")),
                evidence=Evidence(compile_ids, (graph.number,)),
                remedies=remedy("backend declined", _add_one(graph)),
            )

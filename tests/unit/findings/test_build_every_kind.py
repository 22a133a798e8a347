"""Each kind of finding in a recording that has it, and not in one that is as near to it as can be."""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from dynamo_core.findings import ANALYSES, KINDS, Kind, find
from dynamo_core.model import (
    AssignedBackend,
    CacheLookup,
    CallTimes,
    ComparedValue,
    CompileId,
    CudaGraphNoted,
    DeclinedBy,
    Frame,
    Graph,
    GraphBreak,
    GuardFailure,
    HooksLeftOut,
    Optimizer,
    Place,
    ProcessEnd,
    ProcessInfo,
    ProfileWindow,
    RecompileReasons,
    Recording,
    StackFrame,
    UnrolledLoop,
    UnusedCompile,
    VerifiedCall,
    VerifiedProgramCall,
    WindowSpan,
    WrongNode,
)
from dynamo_core.shared.records import CachesInUse
from support.made import FIRST, compiled, decided, of_one_process, verified_call_of
from support.ranks_by_hand import collective, of, rank
from support.ranks_by_hand import graph as graph_of_a_rank

HERE = Place("/home/me/train.py", 7)
LASTING: dict[str, Any] = {  # ten seconds
    "info": ProcessInfo(pid=1, began_ns=1_000_000_000),
    "end": ProcessEnd(ended_ns=11_000_000_000),
    "overlap_seconds": 0.0,
    "compiling_in_calls_seconds": 0.0,
}


class Example(NamedTuple):
    """The fields of a process that has the finding, and those in which the near one differs."""

    fields: dict[str, Any]
    near: dict[str, Any]


def graph(**known: Any) -> Graph:
    fields = {"frame_name": "forward", "frame_place": HERE, "ops": 3, "is_compiled": True, **known}
    return Graph(1, FIRST, 0, None, "inductor", **fields)


def times(calls: int, each: float, guard_seconds: float | None = None) -> CallTimes:
    bucket = (int(each * 1e9), int(each * 1e9) + 1)
    return CallTimes(calls, calls * each, {bucket: calls}, (), (), guard_seconds)


def called(calls: int, each: float, guard_seconds: float | None = None) -> Graph:
    return graph(times=times(calls, each, guard_seconds), calls=calls)


def frame(outcome: Any, **known: Any) -> Frame:
    return Frame("tokens", Place("/home/me/train.py", 20), outcome, "generator", False, False, FIRST, **known)


def reasons(check: str = "tensor 'x' size mismatch", kind: Any = "size") -> RecompileReasons:
    failed = GuardFailure(FIRST, check, kind, "x", 0, "4", "5", None, None, None)
    return RecompileReasons(CompileId(0, 1), (failed,))


def verified(outcome: Any) -> VerifiedCall:
    return VerifiedCall(1, 1, outcome, None, 1, 1, None, None, None, None, None, 0.1)


def caches(switches: dict[str, str]) -> list[CachesInUse]:
    in_use = CachesInUse(
        folder="/tmp/c",
        triton_folder=None,
        held_graphs=None,
        is_writable=True,
        free_bytes=None,
        filesystem=None,
        in_container=False,
        switches=switches,
    )
    return [in_use]


def window(*spans: WindowSpan) -> ProfileWindow:
    """Four steps of half a second."""
    return ProfileWindow(1, 4, 2.0, 0, 1, 0, (), (), (), None, 0, None, spans)


def custom_pass(before: str, after: str) -> tuple[tuple[str, str]]:
    """A part of a key, as torch lists it, then and now."""
    return ((f"[a1] post_grad_custom_post_pass: {before}", f"[b2] post_grad_custom_post_pass: {after}"),)


def recorded_sizes(sizes: int) -> list[CudaGraphNoted]:
    return [CudaGraphNoted(FIRST, "recorded", part=1, function=each, seconds=0.1) for each in range(sizes)]


A_BREAK = GraphBreak("Data-dependent branching", (StackFrame(HERE, "forward", "if x.sum():"),), FIRST)
A_MISS = CacheLookup("fx_graph_cache", "miss", FIRST, took_seconds=5.0)
MUTATES = "skipping cudagraphs due to mutated inputs (1 instances)"
A_LOOP = UnrolledLoop(HERE, "for layer in self.layers:", 240, 60, True, None)
RAISED = ProcessEnd(raised="AssertionError", raised_file="/home/me/train.py", raised_line=7)
LIMIT = replace(compiled(2, reason="it failed"), fail_reason="recompile_limit reached")
AGAIN = {"compiles": [compiled(1, reason="it failed")]}
ANEW = reasons("BACKEND_MATCH failure: different backend callables", "other")
TRAINS = graph(trains=True, optimizer_steps=())
DECLINED = (DeclinedBy("tensorrt", "not installed"),)
OFF = {"torch._inductor.config.fx_graph_cache": "False"}
UNUSED = UnusedCompile(
    "scale", False, "never called", StackFrame(HERE, "<module>", "fast = torch.compile(scale)")
)
EXAMPLES: dict[Kind, Example] = {
    "wrong result": Example(
        {"graphs": [graph()], "verified": [verified("disagrees")]}, {"verified": [verified("agrees")]}
    ),
    "compiler error": Example({"frames": [frame("raised")]}, {"frames": [frame("raised", is_exit=True)]}),
    "error with compiled code": Example(
        {"graphs": [graph(times=replace(times(1, 0.1), raised=1))], "end": RAISED},
        {"graphs": [called(1, 0.1)], "end": RAISED},
    ),
    "hook not called": Example(
        {
            "graphs": [graph()],
            "hooks_left_out": [HooksLeftOut(UNUSED.line, "forward hook", ("Linear",), (1,), 2, 6)],
        },
        {"hooks_left_out": []},
    ),
    "fell back to eager": Example({"frames": [frame("failed")]}, {"frames": [frame("skipped")]}),
    "left eager by dynamo run": Example(
        {"frames": [frame("failed", limit="--loop-limit")]}, {"frames": [frame("failed")]}
    ),
    "recompile limit": Example(
        {"compiles": [compiled(1, reason="it failed"), LIMIT], "recompile_reasons": [reasons()]},
        {"compiles": [compiled(1, reason="it failed"), replace(LIMIT, fail_reason=None)]},
    ),
    # A break that ends in the whole frame running eager is told as that.
    "graph break": Example({"breaks": [A_BREAK]}, {"frames": [frame("failed")]}),
    "other random numbers": Example(
        {"graphs": [graph(drawn_for_numpy=StackFrame(Place("a.py", 5), "f", "np.random.rand()"))]},
        {"graphs": [graph()]},
    ),
    "recompile": Example({**AGAIN, "recompile_reasons": [reasons()]}, {"compiles": [compiled(0)]}),
    "compiled anew": Example({**AGAIN, "recompile_reasons": [ANEW]}, {"recompile_reasons": [reasons()]}),
    "backend declined": Example(
        {"graphs": [graph(assigned_backend=AssignedBackend(None, None, DECLINED))]},
        {"graphs": [graph(assigned_backend=AssignedBackend("eager", None, DECLINED))]},
    ),
    "overhead-bound graphs": Example({"graphs": [called(1000, 10e-6)]}, {"graphs": [called(900, 10e-6)]}),
    "costly guards": Example(
        {**LASTING, "graphs": [called(1000, 3e-3, 1.1e-3)]}, {"graphs": [called(1000, 3e-3, 0.9e-3)]}
    ),
    "never pays back": Example(
        {"compiles": [compiled(0, 3.0)], "graphs": [called(10, 0.1)]}, {"compiles": [compiled(0, 0.9)]}
    ),
    "unrolled loop": Example(
        {"compiles": [compiled(0, 3.0)], "graphs": [graph(ops=242, loop=A_LOOP)]},
        {"compiles": [compiled(0, 0.9)]},
    ),
    "unstable key": Example(
        {
            "lookups": [
                replace(A_MISS, differing_parts=custom_pass("<Pass at 0x7f24a0>", "<Pass at 0x7f24b1>"))
            ],
            "graphs": [graph()],
        },
        {
            "lookups": [
                replace(A_MISS, differing_parts=custom_pass("<Pass at 0x7f24a0>", "<Other at 0x7f24a0>"))
            ]
        },
    ),
    "cold start": Example(
        {"lookups": [A_MISS], "graphs": [graph(backend_seconds=5.0)]},
        {"lookups": [A_MISS, CacheLookup("aotautograd_cache", "hit", FIRST)]},
    ),
    "caches off": Example(
        {"in_use": caches(OFF), "graphs": [graph(backend_seconds=5.0)]}, {"in_use": caches({})}
    ),
    "cache bypass": Example(
        {
            "lookups": [CacheLookup("fx_graph_cache", "bypass", FIRST, reason="why")],
            "graphs": [graph(backend_seconds=5.0)],
        },
        {"graphs": [graph(backend_seconds=0.9)]},
    ),
    "CUDA graphs skipped": Example(
        {"graphs": [graph()], "cuda_graphs": [CudaGraphNoted(FIRST, "skipped", reason=MUTATES)]},
        {"cuda_graphs": [CudaGraphNoted(FIRST, "skipped", reason="skipping cudagraphs due to bisector")]},
    ),
    "many CUDA graphs": Example(
        {"graphs": [graph()], "cuda_graphs": recorded_sizes(9)}, {"cuda_graphs": recorded_sizes(8)}
    ),
    "never called": Example(
        {"unused_compiles": [UNUSED]},
        {"end": ProcessEnd(raised="ValueError")},
    ),
    "eager optimizer": Example(
        {
            "graphs": [TRAINS],
            "optimizers": [Optimizer(name="AdamW", module="torch.optim.adamw", file="adamw.py")],
        },
        {"graphs": [replace(TRAINS, optimizer_steps=("adamw.py",))]},
    ),
    "time outside of graphs": Example(
        {**LASTING, "graphs": [called(10, 0.4)]}, {"graphs": [called(10, 0.6)]}
    ),
    "slow loader": Example(
        {"window": window(WindowSpan("loader", "_SingleProcessDataLoaderIter", 4, 0.21, 0.0))},
        {"window": window(WindowSpan("loader", "_SingleProcessDataLoaderIter", 4, 0.19, 0.0))},
    ),
}


def ranks(*sizes: int) -> Recording:
    """Each of which reduces a tensor of this size."""
    return of(
        *(
            rank(number, graph_of_a_rank(collective("all_reduce", size=size)))
            for number, size in enumerate(sizes)
        )
    )


def recordings(kind: Kind) -> tuple[Recording, Recording]:
    """One that has it, and one that has not."""
    if kind == "ranks differ":
        return ranks(8, 16), ranks(8, 8)
    example = EXAMPLES[kind]
    return of_one_process(**example.fields), of_one_process(**{**example.fields, **example.near})


def test_no_analysis_is_asked_twice() -> None:
    assert len(ANALYSES) == len(set(ANALYSES))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_found_where_it_is_and_nowhere_else(kind: Kind) -> None:
    with_it, without = recordings(kind)
    assert [each.kind for each in find(with_it)].count(kind) == 1
    assert kind not in [each.kind for each in find(without)]


def test_a_wrong_result_names_the_option_that_replaces_the_backend() -> None:
    """`--override` is for the program's own torch.compile; a captured program has `--backend`."""
    fields = EXAMPLES["wrong result"].fields
    for decision, option in (("capture", "--backend aot_eager"), ("observe", "--override backend=aot_eager")):
        known = decided(decision)
        (found,) = find(of_one_process(**fields, captures=(known,)))
        assert f"`dynamo run --verify {option} …`" in found.remedies[0].text


def wrong_call(**known: Any) -> VerifiedProgramCall:
    return verified_call_of("a.py", **{"outcome": "disagrees", "path": "result", "differences": 1} | known)


@pytest.mark.parametrize(("line", "is_its"), [(3, True), (9, False)])
def test_random_numbers_of_another_function_explain_no_wrong_result(line: int, is_its: bool) -> None:
    drawn = StackFrame(Place("a.py", 5), "f", "np.random.rand()")
    drawing = graph(frame_place=Place("a.py", 3), drawn_for_numpy=drawn)
    wrong = wrong_call(stage="tracing", function_place=Place("a.py", line))
    other = wrong_call(name="g", outcome="agrees", function_place=Place("a.py", 12 - line))
    found = find(of_one_process(graphs=[drawing], verified_program_calls=[wrong, other]))
    (result,) = [each for each in found if each.kind == "wrong result"]
    assert ("draw the numbers" in result.remedies[0].text) is is_its
    assert (result.place == drawn.place) is is_its


def test_a_loop_of_an_optimizer_is_none_that_a_user_can_compile_in_parts() -> None:
    place = Place("/env/site-packages/torch/optim/adam.py", 229)
    of_optimizer = graph(ops=242, loop=replace(A_LOOP, place=place))
    found = find(of_one_process(compiles=[compiled(0, 3.0)], graphs=[of_optimizer]))
    assert "unrolled loop" not in [each.kind for each in found]


def test_an_error_in_a_graph_where_capture_came_first() -> None:
    """A program that calls torch.compile is captured up to that call only."""
    fields = EXAMPLES["error with compiled code"].fields | {"frames": [frame("compiled")]}
    for last, is_found in ((decided("observe"), True), (decided("capture"), False)):
        found = find(of_one_process(**fields, captures=(decided("capture"), last)))
        assert ("error with compiled code" in [each.kind for each in found]) is is_found


@pytest.mark.parametrize(("function", "is_its"), [(3, True), (30, False)])
def test_a_wrong_graph_of_another_compiled_function_says_nothing_of_a_call(
    function: int, is_its: bool
) -> None:
    of_graph = graph(frame_place=Place("a.py", 3))
    other = wrong_call(name="g", outcome="agrees", function_place=Place("a.py", 3))
    node = WrongNode("clamp", "clamp", Place("a.py", 4), None)
    found = find(
        of_one_process(
            graphs=[of_graph],
            verified=[replace(verified("disagrees"), node=node)],
            verified_program_calls=[other, wrong_call(function_place=Place("a.py", function))],
        )
    )
    (wrong,) = [each for each in found if each.kind == "wrong result"]
    assert ("first wrong node" in wrong.effect) is is_its


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        (None, "`dynamo run --verify --override backend=aot_eager …` shows"),
        ("tracing", "make a function of that line alone, and put `torch.compiler.disable` on it"),
        ("guards", "pass what changed as an argument"),
        ("AOTAutograd", 'with `backend="eager"` the call gives what plain Python gives'),
        ("decompositions", 'with `backend="aot_eager"` the call gives what plain Python gives'),
        ("inductor", 'with `backend="aot_eager"` the call gives what plain Python gives'),
        ("/x/mine.py:mine", "the backend `mine.py:mine` is at fault: with `aot_eager` in its place"),
    ],
)
def test_a_wrong_call_has_the_advice_of_its_first_wrong_stage(stage: str | None, says: str) -> None:
    call = wrong_call(stage=stage)
    fields_of_it = EXAMPLES["wrong result"].fields | {"verified_program_calls": [call]}
    (found,) = find(of_one_process(**fields_of_it))
    assert says in found.remedies[0].text and "{" not in found.remedies[0].text
    (captured,) = find(of_one_process(**fields_of_it, captures=(decided("capture"),)))
    is_of_a_backend = stage == "/x/mine.py:mine"
    assert (says in captured.remedies[0].text) is is_of_a_backend
    assert ("is a fault of `dynamo run`" in captured.remedies[0].text) is not is_of_a_backend


@pytest.mark.parametrize(
    ("operation", "stage", "is_tested"),
    [
        ("torch.ops.ours.track", "AOTAutograd", True),
        ("torch.ops.ours.track", "tracing", False),
        ("torch.ops.aten.add", "inductor", False),
        ("cos", "inductor", False),
    ],
)
def test_an_operator_of_the_programs_own_is_to_be_tested_first(
    operation: str, stage: str, is_tested: bool
) -> None:
    call = wrong_call(operation=operation, stage=stage)
    (found,) = find(of_one_process(**EXAMPLES["wrong result"].fields | {"verified_program_calls": [call]}))
    assert found.remedies[0].text.startswith("`torch.library.opcheck` says whether") is is_tested


@pytest.mark.parametrize(
    ("kind", "path", "title"),
    [
        ("value", "result", "f gives something else than plain Python, from a.py:9 (mul) on"),
        ("value", "gradient of w", "f: the gradient of w is not plain Python's, from a.py:9 (mul) on"),
        ("exception", "the call", "f does not end as in plain Python, from a.py:9 (mul) on"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(kind: str, path: str, title: str) -> None:
    at = Place("a.py", 9)
    call = wrong_call(kind=kind, path=path, operation="mul", stage="inductor", wrong_place=at)
    (found,) = find(of_one_process(**EXAMPLES["wrong result"].fields | {"verified_program_calls": [call]}))
    assert found.title == title


@pytest.mark.parametrize(
    ("undeclared", "outcome", "is_stale"),
    [
        (None, "hit", True),
        ("writes `y`, which it does not declare", "hit", True),
        ("gives strides (1, 4), where its fake kernel gives (4, 1)", "hit", False),
        (None, "miss", False),
    ],
)
def test_code_out_of_a_cache_may_be_from_before_a_kernel_was_corrected(
    undeclared: str | None, outcome: str, is_stale: bool
) -> None:
    detail = "raised AssertionError: expected size 3==3, stride 1==4 at dim=0, where eager returns"
    call = wrong_call(kind="exception", path="the call", detail=detail, undeclared=undeclared)
    lookup = CacheLookup("fx_graph_cache", outcome, FIRST)
    made = {"verified_program_calls": [call], "graphs": [graph(is_compiled=True)]}
    fields = EXAMPLES["wrong result"].fields | made
    (found,) = (
        each for each in find(of_one_process(**fields, lookups=[lookup])) if each.kind == "wrong result"
    )
    assert ("code out of torch's cache" in found.title) is is_stale
    assert found.remedies[0].text.startswith("remove torch's cache") is is_stale


def test_a_backend_that_gives_its_memory_twice_has_no_wrong_line() -> None:
    path, at = "of the call before, result[0]", Place("a.py", 9)
    call = wrong_call(call=2, path=path, kind="aliasing", stage="/x/mine.py:mine", wrong_place=at)
    (found,) = find(of_one_process(**EXAMPLES["wrong result"].fields | {"verified_program_calls": [call]}))
    assert found.title.endswith("call 2 reused the memory of result[0], which the call before had returned")
    assert found.place != at


def test_a_backend_whose_result_is_no_tuple_is_found_without_verify() -> None:
    """One for a backend, with those of its graphs that are concerned; with --verify the calls say it."""
    wrong = graph(returned_otherwise="the backend returned a str")
    graphs = [replace(wrong, number=number) for number in range(1, 7)]
    (found,) = [each for each in find(of_one_process(graphs=graphs)) if each.kind == "wrong result"]
    assert found.title.startswith("the backend `inductor` returned a str, in graph 1 (")
    assert found.title.endswith("), and in graph 2, graph 3, graph 4 and 2 more")
    assert found.evidence.graphs == (1, 2, 3, 4, 5, 6)
    assert "always a tuple or list" in found.remedies[0].text


def test_an_operator_that_does_what_it_does_not_declare_is_to_be_mended() -> None:
    does = "writes `x`, which it does not declare"
    call = wrong_call(operation="torch.ops.mine.mute", stage="inductor", undeclared=does)
    (found,) = find(of_one_process(**EXAMPLES["wrong result"].fields | {"verified_program_calls": [call]}))
    assert f"let `torch.ops.mine.mute` do what it declares: it {does}" in found.remedies[0].text


@pytest.mark.parametrize(
    ("did", "advice"),
    [
        ("the backend returned output 0 (y) and output 1 (z) exchanged", "in its order"),
        ("the backend returned in this call what it gave in the first one", "calculate its result in each"),
        ("the backend wrote input 0 (x), which the graph leaves as it is", "write none of its inputs"),
    ],
)
def test_what_a_backend_did_to_a_whole_graph_has_advice_of_its_own(did: str, advice: str) -> None:
    value = ComparedValue("output 0 (y)", None, None, "eager", did)
    wrong = replace(verified("disagrees"), first_wrong=value)
    call = wrong_call(stage="mine", wrong_place=Place("a.py", 9), operation="cos")
    known = of_one_process(graphs=[graph()], verified=[wrong], verified_program_calls=[call])
    (found,) = [each for each in find(known) if each.kind == "wrong result"]
    assert advice in found.remedies[0].text and "cos" not in found.title
    elsewhere = replace(call, name="h", function_place=Place("a.py", 50), stage="inductor", operation="sin")
    frame = replace(graph(), frame_place=call.function_place)
    known = of_one_process(graphs=[frame], verified=[wrong], verified_program_calls=[call, elsewhere])
    titles = [each.title for each in find(known) if each.kind == "wrong result"]
    assert sum("the backend" in each for each in titles) == 1, "another function's result is not of it"


def test_a_backend_that_returns_another_structure_is_told_what_to_return() -> None:
    detail = "the backend returned a Tensor, the graph returns a tuple of 1"
    outputs = ComparedValue("the outputs", None, None, "eager", detail)
    wrong = replace(verified("disagrees"), first_wrong=outputs)
    (found,) = find(of_one_process(graphs=[graph()], verified=[wrong]))
    assert "always a tuple or list" in found.remedies[0].text
    at = Place("a.py", 9)
    call = wrong_call(stage="mine", wrong_place=at, operation="cos")
    known = of_one_process(graphs=[graph()], verified=[wrong], verified_program_calls=[call])
    (found,) = [each for each in find(known) if each.kind == "wrong result"]
    said = detail.replace("backend", "backend `inductor`")
    assert (found.title.rpartition(": ")[2], found.effect) == (said, said)
    assert found.place != at  # no operation is wrong

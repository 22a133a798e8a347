"""Graphs of two runs: the same are no difference, a change is said once, and a break with what it cut."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from dynamo_core.compare import Difference, compare, details_to_read
from dynamo_core.compare.difference import GraphChange
from dynamo_core.compare.graph_pairs import graphs_of, match_graphs
from dynamo_core.model import (
    AssignedBackend,
    Bytecode,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Node,
    Place,
    Recording,
    StackFrame,
    TensorInfo,
)
from dynamo_reporters.diff_graphs import changes_in, sentence
from support.made import of_one_process

FILE = "/home/me/model.py"
INPUT = TensorInfo((4, 8), (8, 1), "float32", "cpu")


def nodes(ops: Sequence[str], tensor: TensorInfo = INPUT, first_line: int = 1) -> tuple[Node, ...]:
    """An input and a chain of ops, each on a line of its own."""
    made = [Node("placeholder", "x", "x", "()", "{}", (), (tensor,), place=Place(FILE, first_line))]
    for number, op in enumerate(ops, 1):
        read = made[-1].name
        place = Place(FILE, first_line + number)
        made.append(
            Node("call_function", f"n{number}", op, f"({read},)", "{}", (read,), (tensor,), place=place)
        )
    return tuple(made)


def graph(
    number: int,
    ops: Sequence[str],
    function: str = "forward",
    tensor: TensorInfo = INPUT,
    backend: str = "inductor",
) -> Graph:
    key = sha256(repr((list(ops), tensor)).encode()).hexdigest()[:24]
    made = Graph(number, CompileId(number, 0), 0, None, backend, len(ops), nodes(ops, tensor), key=key)
    made.frame_name, made.frame_place, made.is_compiled = function, Place(FILE, 1), True
    return made


def recording(graphs: Sequence[Graph] = (), **fields: object) -> Recording:
    frames = [
        Frame(g.frame_name or "", Place(FILE, 1), "compiled", None, True, False, g.compile_id) for g in graphs
    ]
    return of_one_process(graphs=list(graphs), frames=frames, **fields)


def changes(before: Sequence[Graph], after: Sequence[Graph]) -> tuple[GraphChange, ...]:
    return compare(recording(before), recording(after)).graphs


def layers(count: int) -> list[Graph]:
    return [graph(n, ["linear", "relu", f"op{n}", "add"]) for n in range(1, count + 1)]


def test_the_same_graphs_in_any_order_and_numbering_are_no_difference() -> None:
    before = layers(40)
    after = [replace(g, number=41 - g.number, compile_id=CompileId(80 - g.number, 0)) for g in before]
    found = compare(recording(before), recording(after))
    assert (found.verdict, found.graphs, found.counts) == ("nothing differs", (), ())
    assert found.sentence == "Nothing differs (40 graphs, 0 findings compared)"


def test_a_graph_that_is_split_is_said_of_the_function_of_its_first_part() -> None:
    ops = [f"op{n}" for n in range(8)]
    parts = [graph(1, ops[:4]), graph(2, ops[4:], function="helper")]
    (split,) = changes([graph(1, ops)], parts)
    assert (split.kind, split.function) == ("split", "forward")
    (joined,) = changes(parts, [graph(1, ops)])
    assert (joined.kind, joined.function) == ("joined", "forward")


def test_a_renamed_function_is_no_difference() -> None:
    after = [replace(g, frame_name="step") for g in layers(3)]
    assert compare(recording(layers(3)), recording(after)).verdict == "nothing differs"


def test_an_op_more_in_one_of_40_graphs_is_one_line_with_its_place() -> None:
    before, after = layers(40), layers(40)
    after[6] = graph(7, ["linear", "relu", "op7", "cos", "add"])
    (change,) = changes(before, after)
    assert (change.kind, change.times, change.before[0].number, change.after[0].number) == (
        "changed",
        1,
        7,
        7,
    )
    ((op, count, place),) = [(each.op, each.count, each.place) for each in change.ops]
    assert (op, count, place) == ("cos", 1, Place(FILE, 5))
    assert list(changes_in(change)) == [f"added: cos at {FILE}:5"]
    assert sentence(change) == "graph 7 of forward (4 → 5 ops) changed"


def test_the_same_op_more_in_every_graph_is_one_line_too() -> None:
    before = [graph(n, ["relu", "add", "mul", f"op{n}"]) for n in range(1, 41)]
    after = [graph(n, ["relu", "cos", "add", "mul", f"op{n}"]) for n in range(1, 41)]
    (change,) = changes(before, after)
    assert (change.times, [each.op for each in change.ops]) == (40, ["cos"])
    assert sentence(change) == "40 graphs of forward changed alike, graph 1 first"


def test_dtypes_and_shapes_are_told_apart_from_ops() -> None:
    double = replace(INPUT, dtype="float64")
    (change,) = changes([graph(1, ["relu", "add"])], [graph(1, ["relu", "add"], tensor=double)])
    assert change.ops == ()
    ((what, before, after, values),) = [(t.what, t.before, t.after, t.values) for t in change.tensors]
    assert (what, before, after, values) == ("dtype", "float32", "float64", 3)
    wider = replace(INPUT, shape=(4, 9), stride=(9, 1))
    (change,) = changes([graph(1, ["relu", "add"])], [graph(1, ["relu", "add"], tensor=wider)])
    assert [(t.what, t.before, t.after) for t in change.tensors] == [("shape", "[4, 8]", "[4, 9]")]


def test_names_of_symbolic_sizes_are_no_difference() -> None:
    one, other = (replace(INPUT, shape=(symbol, 8)) for symbol in ("s77", "s12"))
    (change,) = changes([graph(1, ["relu"], tensor=one)], [graph(1, ["relu", "cos"], tensor=other)])
    assert change.tensors == ()


def test_another_constant_is_found_in_a_graph_of_the_same_ops() -> None:
    one, other = graph(1, ["relu", "mul"]), graph(1, ["relu", "mul"])
    assert one.nodes is not None
    changed = replace(one.nodes[2], args="(n1, 3)")
    other = replace(other, key="another", nodes=(*one.nodes[:2], changed))
    (change,) = changes([one], [other])
    assert change.argument is not None
    assert (change.argument.op, change.argument.before, change.argument.after) == ("mul", "(n1,)", "(n1, 3)")
    assert (change.ops, change.tensors) == ((), ())


def test_another_backend_is_a_difference_and_one_that_is_not_recorded_is_none() -> None:
    (change,) = changes([graph(1, ["relu"])], [graph(1, ["relu"], backend="eager")])
    assert change.settings == ("backend inductor → eager",)
    taken = replace(graph(1, ["relu"]), assigned_backend=AssignedBackend("ofi", None, ()))
    (change,) = changes([graph(1, ["relu"])], [taken])
    assert change.settings == ("backend inductor → ofi",)
    assert changes([replace(graph(1, ["relu"]), backend=None)], [graph(1, ["relu"])]) == ()


OPS = [f"op{n}" for n in range(42)]


def broken(ops: Sequence[str] = OPS, at: int = 18) -> Recording:
    """The graph of `forward`, cut by a break."""
    line = StackFrame(Place(FILE, 52), "forward", "if x.sum() > 0:")
    rest = replace(graph(2, ops[at:]), frame_name="torch_dynamo_resume_in_forward_at_52")
    broke = GraphBreak("Data-dependent branching", (line,), CompileId(1, 0))
    return recording([graph(1, ops[:at]), rest], breaks=[broke])


def test_a_new_break_is_told_with_the_graph_that_it_splits() -> None:
    found = compare(recording([graph(1, OPS)]), broken())
    assert found.verdict == "worse"
    assert found.sentence == "Worse: 1 graph break and 1 graph more"
    (came,) = found.came
    (change,) = found.graphs
    assert (change.kind, change.because) == ("split", came.identity)
    assert sentence(change) == "graph 1 of forward (42 ops) is split into graphs 1 and 2 of 18 and 24 ops"


def test_a_graph_that_is_split_is_explained_by_the_break_in_its_own_compile() -> None:
    halves = [graph(3, OPS[:18]), graph(4, [f"b{n}" for n in range(18)])]
    rests = [graph(5, OPS[18:]), graph(6, [f"b{n}" for n in range(18, 42)])]
    after = [halves[0], rests[0], halves[1], rests[1]]
    breaks = [
        GraphBreak(
            "Data-dependent branching", (StackFrame(Place(FILE, line), "forward", text),), half.compile_id
        )
        for half, line, text in zip(halves, (52, 70), ("if x.sum() > 0:", "print(x)"), strict=True)
    ]
    whole = [graph(1, OPS), graph(2, [f"b{n}" for n in range(42)])]
    found = compare(recording(whole), recording(after, breaks=breaks))
    of_lines = {finding.source: finding.identity for finding in found.came if finding.kind == "graph break"}
    assert [change.because for change in found.graphs] == [of_lines["if x.sum() > 0:"], of_lines["print(x)"]]


def test_a_graph_of_a_renamed_function_that_was_edited_is_the_same_one() -> None:
    (change,) = changes([graph(1, OPS, "f")], [graph(1, [*OPS, "extra"], "g")])
    assert change.kind == "changed"
    small = changes([graph(1, ["a", "b"], "f")], [graph(1, ["a", "b", "c"], "g")])
    assert sorted(each.kind for each in small) == ["came", "went"], "too little to tell"


def test_a_break_that_went_joins_them() -> None:
    found = compare(broken(), recording([graph(1, OPS)]))
    assert found.sentence == "Better: 1 graph break and 1 graph fewer"
    (change,) = found.graphs
    assert (change.kind, change.because) == ("joined", found.went[0].identity)
    assert sentence(change) == "graphs 1 and 2 of 18 and 24 ops of forward are one, graph 1 (42 ops)"


def test_graphs_in_a_row_with_other_ops_are_no_split() -> None:
    """They have as many, but less than seven of ten are the same."""
    whole = [f"op{number}" for number in range(20)]
    for same, kind in ((15, {"split"}), (13, {"came", "went"})):
        pieces = [*whole[:same], *(f"other{number}" for number in range(20 - same))]
        found = compare(recording([graph(1, whole)]), recording([graph(1, pieces[:9]), graph(2, pieces[9:])]))
        assert {change.kind for change in found.graphs} == kind


def test_a_split_that_loses_an_op_is_still_one() -> None:
    (change,) = compare(recording([graph(1, [*OPS, "gt"])]), broken()).graphs
    assert change.kind == "split"


def test_a_graph_that_one_other_resembles_more_is_not_split() -> None:
    found = changes([graph(1, OPS)], [graph(1, OPS[:41]), graph(2, ["sin", "cos"])])
    assert [change.kind for change in found] == ["changed", "came"]


def test_what_is_new_in_a_function_of_its_own_is_no_breaks_effect() -> None:
    alone = compare(recording(), broken())
    assert [change.because for change in alone.graphs] == [None, None]


def test_small_graphs_of_unlike_functions_are_not_taken_for_one() -> None:
    found = changes([graph(1, ["mul"], "f")], [graph(1, ["mul"], "g", replace(INPUT, dtype="float64"))])
    assert sorted(change.kind for change in found) == ["came", "went"]


def test_without_nodes_what_differs_is_counted() -> None:
    def unread(number: int, ops: int) -> Graph:
        return replace(graph(number, ["x"] * ops), nodes=None, key=None)

    found = compare(recording([unread(1, 42)]), recording([unread(1, 18), unread(2, 24)]))
    (change,) = found.graphs
    assert (change.kind, [side.ops for side in change.after]) == ("split", [18, 24])
    assert any("what the graphs compute" in text for text in found.not_compared)
    same: Difference = compare(recording([unread(1, 42)]), recording([unread(1, 42)]))
    assert same.verdict == "nothing differs"


def test_only_the_nodes_of_graphs_that_differ_are_wanted() -> None:
    before, after = layers(3), layers(3)
    after[1] = graph(2, ["relu"])
    wanted = details_to_read(recording(before), recording(after))
    assert [next(iter(each)).split()[-1] for each in wanted] == [before[1].key, after[1].key]
    assert details_to_read(recording(before), recording(layers(3))) == (frozenset(), frozenset())


def test_a_graph_that_is_too_large_to_be_read_does_not_keep_others_from_it() -> None:
    large = replace(graph(1, ["relu"]), ops=10**6)
    (wanted, _) = details_to_read(recording([large, graph(2, ["cos"])]), recording())
    assert [each.split()[-1] for each in wanted] == [graph(2, ["cos"]).key]


def test_the_lines_of_compiled_functions_are_shown() -> None:
    source = {3: "    y = x.cos()"}
    code = Bytecode(CompileId(1, 0), "forward", "M.forward", Place(FILE, 1), "f", source, (), ())
    before = recording([graph(1, ["relu", "add"])])
    found = compare(before, recording([graph(1, ["relu", "cos", "add"])], bytecodes=[code]))
    assert [op.text for op in found.graphs[0].ops] == ["y = x.cos()"]


def test_thousands_of_graphs_of_one_function_are_compared_in_little_time() -> None:
    import time

    before = [graph(n, [f"a{n}", "b", "c", "d"]) for n in range(1500)]
    after = [graph(n, [f"a{n}", "b", "c", "e"]) for n in range(1500)]
    begun = time.process_time()
    (change,) = changes(before, after)
    assert change.times == 1500
    assert time.process_time() - begun < 10


def test_the_order_of_a_sum_of_symbolic_sizes_is_no_difference() -> None:
    def grown(first: str, second: str, total: str) -> Graph:
        inputs = [replace(INPUT, shape=(size, 8)) for size in (first, second)]
        made = [
            Node("placeholder", f"x{n}", f"x{n}", "()", "{}", (), (tensor,))
            for n, tensor in enumerate(inputs)
        ]
        cat = Node(
            "call_function", "cat", "cat", "(x0, x1)", "{}", ("x0", "x1"), (replace(INPUT, shape=(total, 8)),)
        )
        return replace(graph(1, ["cat"]), nodes=(*made, cat), key=total)

    (change,) = changes([grown("s3", "s7", "s3 + s7")], [grown("s9", "s4", "s4 + s9")])
    assert change.tensors == ()
    (change,) = changes([grown("s3", "s7", "s3 + s7")], [grown("s9", "s4", "s4*s9")])
    assert [each.what for each in change.tensors] == ["shape"]


def test_ops_at_another_line_are_moved() -> None:
    (change,) = changes([graph(1, ["relu", *OPS])], [graph(1, [*OPS, "relu"])])
    assert next(changes_in(change)) == f"moved: relu from {FILE}:2 to {FILE}:44"


def test_keys_count_only_where_both_runs_have_them() -> None:
    """Older recordings have none: graphs are then the same by function and number of ops."""
    keyed = graphs_of(recording([graph(1, ["add", "mul"])]), {})
    plain = graphs_of(recording([replace_key(graph(1, ["sub", "div"]))]), {})
    for before, after in ((keyed, plain), (plain, keyed)):
        found = match_graphs(before, after)
        assert (found.by_key, len(found.same)) == (False, 1)
    found = match_graphs(keyed, graphs_of(recording([graph(1, ["sub", "div"])]), {}))
    assert (found.by_key, found.same) == (True, [])


def replace_key(made: Graph) -> Graph:
    made.key = None
    return made

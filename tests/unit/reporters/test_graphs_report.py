"""`dynamo graphs` on hand-made recordings: what is said, folded, drawn and written, without any file."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from dynamo_core.analysis.graphs.nodes import (
    Repeat,
    counts_of,
    counts_text,
    folded,
    kind_of,
    module_path,
    tensor_text,
)
from dynamo_core.analysis.graphs.program import generated_program, placeholders_in
from dynamo_core.case import Case
from dynamo_core.model import (
    CallTimes,
    CompileId,
    Graph,
    Node,
    OperatorSource,
    Place,
    Process,
    Recording,
    Stage,
    Symbol,
    TensorInfo,
)
from dynamo_core.shared.errors import NothingSelected
from dynamo_reporters.explain.report import report as explain_report
from dynamo_reporters.graphs.document import direction, stage_names
from dynamo_reporters.graphs.files import graph_files, runnable
from dynamo_reporters.graphs.report import report
from dynamo_reporters.page.blocks import Code, Column, Table
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.page.markdown import to_markdown
from dynamo_reporters.page.terminal import DrawnTable, fitted
from dynamo_reporters.profile.run_time import run_time_blocks
from dynamo_reporters.report import document
from support.made import of_one_process

FILE = "/home/u/net.py"
WEIGHT = "L['self']._modules['fc']._parameters['weight']"
MEAN = "L['self']._modules['bn']._buffers['mean']"
CODE = f"""\
class GraphModule(torch.nn.Module):
    def forward(self, s77: "Sym(s77)", L_x_: "f32[s77, 4][4, 1]cpu"):
        l_x_ = L_x_

        # File: {FILE}:7 in forward, code: y = x.relu()
        relu: "f32[s77, 4][4, 1]cpu" = l_x_.relu();  l_x_ = None
        return (relu,)
"""


def tensor(*shape: int | str, stride: tuple[int | str, ...] | None = None, grad: bool = False) -> TensorInfo:
    return TensorInfo(shape, stride, "float32", "cpu", grad)


def placeholder(name: str, source: str, value: TensorInfo | None = None, symbol: str | None = None) -> Node:
    tensors = () if value is None else (value,)
    return Node("placeholder", name, name.upper(), "()", "{}", (), tensors, symbol, source)


def call(name: str, target: str, *inputs: str, line: int = 7, kwargs: str = "{}") -> Node:
    args = f"({', '.join(inputs)},)"
    return Node(
        "call_function", name, target, args, kwargs, inputs, (tensor("s77", 4),), place=Place(FILE, line)
    )


def output(*inputs: str) -> Node:
    return Node("output", "output", "output", f"(({', '.join(inputs)},),)", "{}", inputs)


NODES = (
    placeholder("s77", "L['x'].size()[0]", symbol="s77"),
    placeholder("l_x_", "L['x']", tensor("s77", 4, stride=(4, 1))),
    placeholder("l_self_fc_weight_", WEIGHT, tensor(4, 4, grad=True)),
    placeholder("l_self_bn_mean_", MEAN, tensor(4)),
    call("linear", "torch._C._nn.linear", "l_x_", "l_self_fc_weight_", "l_self_bn_mean_"),
    call("relu", "torch.relu", "linear", line=8, kwargs="{'inplace': True}"),
    output("relu"),
)
ID = CompileId(0, 1)
GRAPH = Graph(
    number=1,
    compile_id=ID,
    attempt=0,
    name="__compiled_fn_1",
    backend="inductor",
    ops=2,
    nodes=NODES,
    code=CODE,
    frame_name="forward",
    frame_place=Place(FILE, 6),
    is_compiled=True,
    backend_seconds=1.5,
    calls=3,
    host_seconds=0.002,
)
FOREIGN = replace(GRAPH, nodes=None, backend=None, backend_seconds=None, calls=None, host_seconds=None)


def recording(*graphs: Graph, stages: tuple[Stage, ...] = (), rank: int | None = None) -> Recording:
    process = Process(Path("dedicated_log_torch_trace_1.log"), rank=rank)
    process.graphs = list(graphs)
    process.stages = list(stages)
    process.symbols = [Symbol(ID, "s77", "5", "L['x'].size()[0]", None)]
    process.health.record_counts = {stage.name: 1 for stage in stages}
    return Recording(Path("r"), None, [process], None, [])


def text(value: Recording, **options: object) -> str:
    return plain_text(report(**options).page(Case(value)))  # type: ignore[arg-type]


def test_inputs_are_told_apart_and_counted() -> None:
    assert [kind_of(node) for node in NODES[:4]] == ["symbol", "input", "parameter", "buffer"]
    assert counts_text(GRAPH) == "1 input, 1 parameter, 1 buffer, 1 symbolic size, 2 ops, 1 output"
    in_dict = placeholder("w", "L['self'].__dict__['_modules']['fc']._parameters['weight']")
    assert kind_of(in_dict) == "parameter"
    assert module_path(in_dict.source or "") == "self.fc.weight"
    assert counts_of(FOREIGN) is None


def test_table_has_the_users_lines_above_their_nodes() -> None:
    lines = text(recording(GRAPH)).splitlines()
    at = next(i for i, line in enumerate(lines) if "y = x.relu()" in line)
    assert lines[at].strip() == f"{FILE}:7  y = x.relu()"
    assert lines[at + 1].split() == [
        *("call_function", "linear", "torch._C._nn.linear"),
        *("(l_x_,", "self.fc.weight,", "self.bn.mean,)", "f32[s77,", "4]", "cpu"),
    ]
    assert lines[at + 2].strip() == f"{FILE}:8"
    assert "(linear,) {'inplace': True}" in lines[at + 3]
    assert any("symbolic sizes, as met when compiling: s77 = 5 (L['x'].size()[0])" in line for line in lines)
    assert any("called 3 times, 2 ms on the host" in line for line in lines)


def test_all_has_every_node_under_its_own_name() -> None:
    everything = text(recording(GRAPH), show_all=True)
    assert "(l_x_, l_self_fc_weight_, l_self_bn_mean_,)" in everything
    assert "--all" not in everything


def test_a_program_says_what_to_import_for_an_operator_that_is_not_torchs() -> None:
    code = CODE.replace("l_x_.relu()", "torch.ops.mylib.scale.default(l_x_, torch.ops.aten.neg(l_x_))")
    bare = replace(GRAPH, code=code)
    told = replace(bare, custom_operators={"mylib::scale": OperatorSource(Place("my_ops.py", 3), "my.ops")})
    for graph, what in (
        (bare, "where it is registered was not recorded): put what registers it above"),
        (told, "registered at my_ops.py:3): put `import my.ops` above this check"),
    ):
        program = generated_program(graph, (), "title")
        assert what in program and "torch.ops.aten is not" not in program and "'neg'" not in program
        with pytest.raises(SystemExit, match=r"torch.ops.mylib.scale is not an operator of torch's own"):
            exec(compile(program, "graph1.py", "exec"), {"__name__": "elsewhere"})


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (tensor(8, 24, stride=(24, 1)), "f32[8, 24] cpu"),
        (tensor(8, 24, stride=(25, 1)), "f32[8, 24][25, 1] cpu"),
        (tensor(8, 1, 4, stride=(4, 99, 1)), "f32[8, 1, 4] cpu"),
        (tensor("s1", "s2", 4, stride=("4*s2", 4, 1)), "f32[s1, s2, 4] cpu"),
        (tensor("s1", "s2", stride=(1, "s1")), "f32[s1, s2][1, s1] cpu"),
        (tensor(), "f32[] cpu"),
        (TensorInfo((2,), None, "float8_e4m3fn", "cuda:1"), "float8_e4m3fn[2] cuda:1"),
    ],
)
def test_tensor_in_words(info: TensorInfo, expected: str) -> None:
    assert tensor_text(info) == expected


def test_fold_finds_layers_and_layers_in_layers() -> None:
    assert folded("abcdef") == tuple(range(6))
    assert folded("x" + "abc" * 4 + "y") == (0, Repeat(1, 3, 4, (1, 2, 3)), 13)
    outer = folded(("ab" * 4 + "c") * 3)
    assert outer == (Repeat(0, 9, 3, (Repeat(0, 2, 4, (0, 1)), 8)),)
    assert folded("abab") == (0, 1, 2, 3)  # too little is saved


def test_repeated_layers_are_shown_once() -> None:
    layers = [
        call(f"{target}_{i}", f"torch.{target}", "l_x_") for i in range(24) for target in ("mm", "relu")
    ]
    large = replace(GRAPH, nodes=(*NODES[:4], *layers, output("relu_23")))
    short, whole = text(recording(large)), text(recording(large), show_all=True)
    assert "\u00d7 24 (mm_0 \u2026 relu_23): 2 nodes each time, the first time shown" in short
    assert short.count("torch.mm") == 1
    assert whole.count("torch.mm") == 24


def test_a_graph_without_nodes_shows_its_code() -> None:
    page = text(recording(FOREIGN))
    assert "Its nodes were not recorded" in page
    assert "relu = l_x_.relu()" in page.replace('relu: "f32[s77, 4][4, 1]cpu"', "relu")
    assert "nothing to draw" in text(recording(FOREIGN), style="dot")


def test_no_graph_is_said_only_where_graphs_were_recorded() -> None:
    assert text(recording()) == "graphs: not recorded\nGraphs were not recorded.\n"
    ours = of_one_process()
    assert text(ours) == "0 graphs\nNo graph was handed to a backend.\n"
    blind = text(of_one_process(failed_probes={"graphs": "KeyError: 'gm'"}))
    assert blind == "graphs: not recorded\nNo graph could be recorded: KeyError: 'gm'\n"
    assert "# Graphs were not recorded (KeyError: 'gm')." in text(
        of_one_process(failed_probes={"graphs": "KeyError: 'gm'"}), style="code"
    )


def test_code_stands_alone() -> None:
    shown = text(recording(GRAPH), style="code")
    compile(shown, "graph", "exec")
    assert shown.startswith("# graph 1 [0/1] forward")


def test_dot_quotes_what_it_must() -> None:
    odd = replace(NODES[1], source="L['a\"b\\N']")
    drawn = text(recording(replace(GRAPH, nodes=(odd, *NODES[2:]))), style="dot")
    assert '"linear" -> "relu";' in drawn
    assert "L['a\\\"b\\\\N']" in drawn
    assert drawn.count("{") == drawn.count("}")


def test_markdown_has_the_lines_in_a_column_of_their_own() -> None:
    page = to_markdown(report().page(Case(recording(GRAPH))))
    row = next(line for line in page.splitlines() if "call\\_function" in line)
    assert len(row.split(" | ")) == 6
    assert row.rstrip(" |").endswith("y = x.relu()")


JOINT = Stage("aot_joint_graph", ID, "primals_1 tangents_1")
STAGES = (
    JOINT,
    Stage("aot_forward_graph", ID, "def forward(primals_1)"),
    Stage("inductor_output_code", ID, "primals_1 = args", "/tmp/c.py"),
    Stage("inductor_output_code", ID, "primals_1, tangents_1 = args"),
    Stage("aot_inference_graph", CompileId(1, 0), "arg0_1"),
)


def test_stages_by_name_and_by_group() -> None:
    assert stage_names(["aot_joint", "aot"])[:2] == ["aot-joint", "aot-forward"]
    assert [direction(stage) for stage in STAGES] == ["joint", "forward", "forward", "backward", None]
    page = text(recording(GRAPH, stages=STAGES), stages=("output-code",))
    assert page.index("inductor_output_code, forward: graph 1") < page.index("inductor_output_code, backward")
    assert "not recorded" not in page
    assert "aot_inference_graph: compile [1/0]" in text(recording(GRAPH, stages=STAGES), stages=("aot",))


@pytest.mark.parametrize("stage", ["pre-grad", "aot-jiont"])
def test_a_stage_that_is_not_there_is_said_to_be_missing(stage: str) -> None:
    page = text(recording(GRAPH, stages=STAGES), stages=(stage,))
    assert f"{stage} is not recorded here" in page
    assert "aot-joint, aot-forward, aot-inference, output-code" in page


def test_document_has_everything() -> None:
    body = document(report(stages=("aot-joint", "runnable")), Case(recording(GRAPH, stages=STAGES)))
    json.dumps(body)
    graph = body["graphs"][0]
    assert graph["counts"]["parameters"] == 1
    assert graph["nodes"][4]["inputs"] == ["l_x_", "l_self_fc_weight_", "l_self_bn_mean_"]
    assert graph["nodes"][4]["place"] == {"file": FILE, "line": 7}
    assert graph["nodes"][2]["kind"] == "parameter"
    assert [stage["record"] for stage in body["stages"]] == ["aot_joint_graph"]
    assert body["stages_not_recorded"] == ["runnable"]


def test_names_of_saved_files() -> None:
    value = recording(GRAPH, replace(GRAPH, number=2), stages=STAGES)
    value.processes[0].rank = 0
    value.processes.append(replace(value.processes[0], rank=1, graphs=[], stages=[]))
    assert list(graph_files(value, ("output-code", "aot"), show_all=False)) == [
        *(
            f"rank0_graph{n}_0-1_{form}"
            for n in (1, 2)
            for form in ("table.txt", "code.py", "graph.dot", "graph.svg")
        ),
        "rank0_graph1_0-1_aot_joint_graph.py",
        "rank0_graph1_0-1_aot_forward_graph.py",
        "rank0_graph1_0-1_inductor_output_code_forward.py",
        "rank0_graph1_0-1_inductor_output_code_backward.py",
        "rank0_compile_1-0_aot_inference_graph.py",
    ]


def test_a_file_of_a_graph_whose_compile_is_not_known_says_so_and_names_are_used_once() -> None:
    nameless = replace(GRAPH, compile_id=None, code=None, nodes=None)
    autograd = replace(nameless, compile_id=CompileId(0, 1, 2))
    value = recording(nameless, nameless, autograd)
    assert list(graph_files(value, (), show_all=False)) == [
        "graph1_none_table.txt",
        "graph1_none_table_2.txt",
        "graph1_a2-0-1_table.txt",
    ]


def test_torchs_program_says_what_to_import_behind_its_own_import_of_torch() -> None:
    text = (
        "import os\nos.environ['A'] = '1'\n\nimport torch\ndef forward(self, primals_1): torch.ops.my.op(1)"
    )
    program = runnable(
        recording(GRAPH, stages=(Stage("fx_graph_runnable", ID, text),)), 1, backward=False
    ).text
    settings, _, rest = program.partition("import torch\n")
    assert "os.environ['A']" in settings and rest.startswith("if not hasattr(torch.ops.my, 'op'):")


def test_texts_of_graphs_are_code_of_their_own_language() -> None:
    for style, language in (("code", "python"), ("dot", "dot")):
        (block,) = report(style).page(Case(recording(GRAPH)))
        assert isinstance(block, Code) and block.language == language
    for style, mark in (("code", "# "), ("dot", "// ")):
        assert plain_text(report(style).page(Case(recording()))).startswith(mark)


def test_a_graph_that_runs_is_not_said_to_be_never_called() -> None:
    running = CallTimes(0, 0.0, {}, (), (), None, running_since_ns=5)
    value = recording(replace(GRAPH, calls=0, host_seconds=0.0, times=running))
    assert "called 0 times; a call has not returned" in plain_text(report().page(Case(value)))
    assert "the first call has not returned" in plain_text(run_time_blocks(Case(value), show_all=False))
    assert "never called" not in plain_text(explain_report(show_all=True).page(Case(value)))
    never = recording(
        replace(GRAPH, calls=0, host_seconds=0.0, times=replace(running, running_since_ns=None))
    )
    assert "none was called" in plain_text(run_time_blocks(Case(never), show_all=False))
    assert "never called" in plain_text(explain_report(show_all=True).page(Case(never)))


def test_torchs_program_is_given_without_what_only_concerns_the_recording() -> None:
    torchs = (
        "import os\nos.environ['DYNAMO_RUN_RECORDING'] = '/r'\nos.environ['TORCH_TRACE'] = '/t'\n"
        "os.environ['TORCHINDUCTOR_X'] = '1'\ndef forward(self, primals_1): pass\n"
    )
    stages = (
        Stage("fx_graph_runnable", ID, torchs),
        Stage("fx_graph_runnable", ID, "def forward(self, tangents_1): pass"),
    )
    value = recording(GRAPH, stages=stages)
    forward, backward = (runnable(value, 1, backward=way) for way in (False, True))
    assert (forward.origin, forward.direction, backward.direction) == ("torch", "forward", "backward")
    assert "TORCHINDUCTOR_X" in forward.text
    assert "/r" not in forward.text.split("import os")[1]
    assert "TORCH_TRACE" not in forward.text
    assert "--backward" in forward.text and "--backward" not in backward.text
    alone = runnable(recording(GRAPH, stages=stages[:1]), 1, backward=False)
    assert (alone.direction, "--backward" in alone.text) == ("forward", False)
    with pytest.raises(NothingSelected, match="no graph 9 in r; graphs: 1"):
        runnable(value, 9, backward=False)
    with pytest.raises(NothingSelected, match="backward of graph 1"):
        runnable(recording(GRAPH), 1, backward=True)


def test_our_program_has_the_recorded_inputs() -> None:
    ours = runnable(recording(GRAPH), 1, backward=False)
    assert ours.origin == "dynamo"
    compile(ours.text, "graph1.py", "exec")
    assert "s77 = 5  # L['x'].size()[0], as met when compiling" in ours.text
    assert "rand_strided((s77, 4), (4, 1), torch.float32, 'cpu'),  # l_x_ = L['x']" in ours.text
    assert ".requires_grad_(),  # l_self_fc_weight_ = L['self']" in ours.text


def test_our_program_from_the_code_alone() -> None:
    assert [(node.name, node.symbol, node.tensors) for node in placeholders_in(CODE)] == [
        ("s77", "s77", ()),
        ("L_x_", None, (tensor("s77", 4, stride=(4, 1)),)),
    ]
    compile(generated_program(FOREIGN, (), "title"), "graph1.py", "exec")


def test_inputs_in_older_code_and_inputs_that_are_not_known() -> None:
    (old,) = placeholders_in('def forward(self, arg0_1: "i64[2]"):')
    assert old.tensors == (TensorInfo((2,), None, "int64", "cpu"),)
    assert placeholders_in("def forward(self):") == []
    for signature in ("L_x_ : torch.Tensor", "x"):
        with pytest.raises(NothingSelected, match="was not recorded"):
            placeholders_in(f"def forward(self, {signature}):")


def test_graphs_that_count_for_none_are_counted_apart() -> None:
    failed = replace(GRAPH, is_compiled=False)
    special = replace(GRAPH, is_specialization=True)
    page = text(recording(GRAPH, failed, special))
    assert page.startswith("1 graph, 2 ops, 1 specialization, 1 that the backend did not compile\n")
    assert "the backend did not compile it" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"code": None}, "its code was not recorded"),
        ({"code": "no class"}, "its code is no module"),
        ({"code": CODE.replace("l_x_.relu", "self.L__self___fc")}, "not recorded: L__self___fc"),
    ],
)
def test_what_cannot_be_run_is_said(change: dict[str, object], message: str) -> None:
    with pytest.raises(NothingSelected, match=message):
        generated_program(replace(GRAPH, **change), (), "title")  # type: ignore[arg-type]


def test_constants_and_nested_graphs_are_given_to_the_module() -> None:
    constant = Node("get_attr", "c", "_tensor_constant0", "()", "{}", (), (tensor(2, stride=(1,)),))
    code = (
        "class GraphModule(torch.nn.Module):\n    def forward(self):\n"
        "        return self.body(self._tensor_constant0)\n"
        "    class body(torch.nn.Module):\n        def forward(self, x):\n            return x\n"
    )
    code += "# File: a.py:1 in f, code: self.user_s\n"
    program = generated_program(replace(GRAPH, code=code, nodes=(constant,)), (), "title")
    assert "made._tensor_constant0 = rand_strided((2,), (1,), torch.float32, 'cpu')" in program


def test_a_strangers_sizes_are_no_code() -> None:
    evil = placeholder("x", "L['x']", tensor("__import__('os').system('x')\n", 4, stride=(4, 1)))
    program = generated_program(replace(GRAPH, nodes=(evil, output("x"))), (), 'a """ title')
    compile(program, "graph1.py", "exec")
    assert "system" not in program


def on_terminal(width: int, *rows: tuple[str, ...]) -> list[str]:
    columns = [Column("a"), Column("b"), Column("c"), Column("line", is_above=True)]
    file = io.StringIO()
    Console(file=file, width=width).print(DrawnTable(Table(columns, rows)))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_lines_go_across_and_what_has_no_room_goes_below() -> None:
    rows = [("x", "y", "a long cell " * 3, "file.py:1  text"), ("x", "y", "another long cell", "")]
    wide = on_terminal(80, *rows)
    assert wide[1] == "file.py:1  text"
    assert wide[2] == "x  y  " + ("a long cell " * 3).rstrip()
    assert on_terminal(24, *rows) == [
        *("a  b", "    c", "file.py:1  text", "x  y"),
        *("    a long cell a long", "    cell a long cell", "x  y", "    another long cell"),
    ]
    assert fitted([10, 30, 30], 50, [8, 8, 8]) == [10, 20, 20]

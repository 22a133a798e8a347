"""`--verify` finds what is wrong, accuses nobody else, and changes nothing in the program."""

import json
from pathlib import Path
from typing import Any

import pytest

from launching import Runner
from recordings import SAMPLES
from running import PROGRAMS
from support.cases import nightly, one_in
from support.schemas import validate
from support.torch_version import TORCH, skip_where_torch_is_right

WRONG = PROGRAMS / "wrong_backends.py"
VERIFIED_PROGRAMS = PROGRAMS.parent / "verified_programs"


def verified(run: Runner, recording: Path | str) -> dict[str, Any]:
    document = json.loads(run("explain", "--format", "json", recording).stdout)
    validate(document)
    assert document["problems"] == []  # our counts agree with torch's
    found: dict[str, Any] = document["verified"]
    return found


@pytest.fixture
def run(forked: Runner) -> Runner:
    """Nothing here is about how a process starts."""
    return forked


@pytest.mark.parametrize("arguments", one_in(2, [("--backend", "aot_eager"), ("inductor",)]))
def test_program_does_not_notice(arguments: tuple[str, ...], run: Runner) -> None:
    options = [argument for argument in arguments if len(arguments) > 1]
    own = [argument for argument in arguments if len(arguments) == 1]
    plain = run("run", "-q", *options, PROGRAMS / "delicate.py", *own)
    beside = run("run", "-q", "--verify=error", "-o", "recording", *options, PROGRAMS / "delicate.py", *own)
    assert (beside.stdout, beside.stderr, beside.exit_code) == (plain.stdout, plain.stderr, 3)
    found = verified(run, "recording")
    assert found["disagree"] == 0
    own_random = [call["why"] for call in found["calls"] if call["outcome"] != "agrees"]
    assert set(own_random) <= {"it draws random numbers in its own way"}  # Inductor, unless it is told not to
    assert found["agree"] == found["graphs"] - bool(own)
    assert {call["call"] for call in found["calls"]} == {1, 2}
    assert any(call["gradients"] == "compared" for call in found["calls"])


@pytest.mark.parametrize("sample", one_in(2, ["train_loop.py", "transformer.py"]))
def test_inductor_agrees(sample: str, run: Runner) -> None:
    result = run("run", "--verify=error", "-o", "recording", SAMPLES / sample)
    assert result.exit_code == 0, result.stderr
    assert "Graphs that computed what the captured graph computes: 1 of 1; largest error " in result.stderr
    assert "gave what plain Python gives" in result.stderr
    assert ", 1 graph computed what the captured graph computes\n" in result.stderr
    first, second = verified(run, "recording")["calls"]
    for call in (first, second):
        assert call["outcome"] == "agrees"
        assert call["compared"] == call["against_float64"] > 6  # the parameters' gradients as well
        assert 0 < call["worst"]["error"] < call["worst"]["allowed"] < 1e-4


@nightly
def test_planted_operator_is_named(run: Runner) -> None:
    backend = f"{SAMPLES / 'wrong_backend.py'}:off_by_a_little"
    result = run("run", "--verify=error", "--backend", backend, "-o", "recording", SAMPLES / "transformer.py")
    assert result.exit_code == 117
    line = 1 + (SAMPLES / "transformer.py").read_text().splitlines().index(
        "        return x + self.mlp(self.norm_mlp(x))"
    )
    (call,) = verified(run, "recording")["calls"]
    assert call["outcome"] == "disagrees"
    assert call["first_wrong"]["name"].startswith("output 0 ")
    assert (call["node"]["target"], call["node"]["place"]["line"]) == ("torch._C._nn.gelu", line)
    assert call["node"]["value"]["error"] == pytest.approx(1e-3, rel=0.01)
    assert "first wrong node of graph 1: input_2 = torch._C._nn.gelu at " in result.stderr
    told = "--verify: 1 call gave something else than plain Python, 1 graph computed something else than"
    assert result.stderr.endswith(f"{told} eager; exit code 117\n")


@pytest.mark.parametrize(
    ("backend", "wrong", "node"),
    one_in(
        2,
        [
            ("only_where_it_is_fused", "output 0 (", "torch._C._nn.gelu"),
            ("not_a_number", "output 0 (", "torch._C._nn.gelu"),
            ("wrong_gradient", "gradient of input 0 (", None),
            ("in_place_too", "input 0 (", None),
        ],
    ),
)
def test_kinds_of_faults(backend: str, wrong: str, node: str | None, run: Runner) -> None:
    result = run("run", "--verify", "--backend", f"{WRONG}:{backend}", "-o", "recording", WRONG)
    assert result.exit_code == 0  # it was only to be reported
    (call,) = verified(run, "recording")["calls"]
    assert call["outcome"] == "disagrees"
    assert call["first_wrong"]["name"].startswith(wrong)
    assert (call["node"] and call["node"]["target"]) == node
    is_of_the_backend = (call["first_wrong"]["detail"] or "").startswith("the backend wrote ")
    assert is_of_the_backend == (backend == "in_place_too")
    assert (call["node_unknown"] is None) == (node is not None or is_of_the_backend)


def test_what_fails_on_our_side_is_not_the_programs(run: Runner) -> None:
    backend = f"{WRONG}:fails_the_second_time"
    result = run("run", "--verify", "--backend", backend, "-o", "recording", WRONG)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("loss ") == 2
    calls = verified(run, "recording")["calls"]
    assert calls[0]["gradients"] == "not compared: RuntimeError: only once"
    assert [call["outcome"] for call in calls] == ["agrees", "agrees"]


def test_an_error_that_compiled_code_does_not_raise_is_a_wrong_result(run: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "drop = torch.compile(lambda p: torch.bernoulli(p))\n"
        "print(drop(torch.full((4,), 3.0)).sum().item())\n"
    )
    result = run("run", "--verify=error", "-o", "recording", program)
    assert (result.exit_code, result.stdout) == (117, "4.0\n")
    assert "Traceback" not in result.stderr
    (call,) = verified(run, "recording")["calls"]
    assert call["outcome"] == "disagrees"
    assert call["first_wrong"]["detail"].startswith(
        "returned, where eager raises RuntimeError: Expected p_in"
    )


def test_a_report_that_runs_the_program_ends_by_the_verdict_too(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "wrong = lambda graph, inputs: lambda *values: tuple(value + 1 for value in graph(*values))\n"
        "print(torch.compile(lambda x: x * 2, backend=wrong)(torch.ones(2)).sum().item())\n"
    )
    result = forked("explain", "--verify=error", program)
    assert result.exit_code == 117
    assert "gave something else than plain Python" in result.stderr and "6.0" in result.stderr
    assert "gives something else than plain Python" in result.stdout


def test_an_error_that_only_compiled_code_raises_is_a_wrong_result(run: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "def backend(gm, inputs):\n"
        "    def fails(*args):\n"
        "        raise ValueError('no')\n"
        "    return fails\n"
        "try:\n"
        "    torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    result = run("run", "--verify=error", "-o", "recording", program)
    assert (result.exit_code, result.stdout) == (117, "no\n")
    (call,) = verified(run, "recording")["calls"]
    assert call["first_wrong"]["detail"] == "raised ValueError: no, where eager returns"


def test_another_structure_of_outputs_is_a_wrong_result(run: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "def backend(gm, inputs):\n"
        "    return lambda *args: gm.forward(*args)[0]\n"
        "print(torch.compile(lambda x: x + 1, backend=backend)(torch.ones(3, 4)).shape)\n"
    )
    result = run("run", "--verify=error", "-o", "recording", program)
    assert (result.exit_code, result.stdout) == (117, "torch.Size([4])\n")
    (call,) = verified(run, "recording")["calls"]
    detail = "the backend returned a Tensor, the graph returns a tuple of 1"
    assert call["first_wrong"]["detail"] == detail
    unverified = run("run", program)
    assert detail.replace("the backend", "the backend `backend`") in unverified.stderr


def test_random_numbers_of_its_own_are_no_failure(run: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\nprint(torch.compile(torch.nn.Dropout())(torch.ones(2, 4)).shape)\n")
    result = run("run", "--verify=error", "-o", "recording", program)
    assert result.exit_code == 0, result.stderr
    assert "1 graph could not be compared (it draws random numbers in its own way)" in result.stderr


PROGRAM_IS_WRONG = {
    # What a program does, and the stage, line and kind of what is wrong.
    "condition folded while tracing": (
        "class Anything(type):\n"
        "    def __instancecheck__(cls, instance):\n"
        "        return True\n"
        "class Setting(metaclass=Anything):\n"
        "    pass\n"
        "@torch.compile(backend='eager')\n"
        "def f(x):\n"
        "    if isinstance(3, Setting):\n"
        "        return x + 1\n"
        "    return x - 1\n"
        "f(torch.ones(3))\n",
        ("tracing", 9, "value"),
    ),
    "environment variable that is not guarded": (
        "import os\n"
        "@torch.compile(backend='eager')\n"
        "def f(x):\n"
        "    if os.environ.get('MODE') == 'a':\n"
        "        return x + 1\n"
        "    return x - 1\n"
        "f(torch.ones(2))\n"
        "os.environ['MODE'] = 'a'\n"
        "f(torch.ones(2))\n",
        ("guards", 5, "value"),
    ),
    "write through an expanded view": (
        "@torch.compile(backend='aot_eager')\n"
        "def f(x):\n"
        "    y = x + 1\n"
        "    rows = y.expand(3, 4)\n"
        "    rows.fill_(2.0)\n"
        "    return y\n"
        "f(torch.zeros(1, 4))\n",
        ("AOTAutograd", 6, "value"),
    ),
    "operation that a backend of the program's computes otherwise": (
        "def my_backend(gm, example_inputs):\n"
        "    for node in gm.graph.nodes:\n"
        "        if node.target == 'sin':\n"
        "            node.target = 'cos'\n"
        "    gm.recompile()\n"
        "    return gm\n"
        "@torch.compile(backend=my_backend)\n"
        "def f(x):\n"
        "    y = x + 1\n"
        "    z = y.sin()\n"
        "    return z * 2\n"
        "f(torch.zeros(3))\n",
        ("my_backend", 11, "value"),
    ),
}


# torch 2.15 computes it as plain Python does; 2.14 was not tried.
RIGHT_IN_NEWER_TORCH = ("condition folded while tracing",)


@pytest.mark.parametrize("name", one_in(2, sorted(PROGRAM_IS_WRONG)))
def test_a_wrong_program_is_found_with_its_stage_and_line(name: str, run: Runner, tmp_path: Path) -> None:
    if name in RIGHT_IN_NEWER_TORCH and TORCH >= (2, 14):
        pytest.skip("this torch computes it right")
    text, (stage, line, kind) = PROGRAM_IS_WRONG[name]
    program = tmp_path / "program.py"
    program.write_text(f"import torch\n{text}")
    result = run("run", "--verify=error", "-o", "recording", program)
    assert result.exit_code == 117, result.stderr
    document = json.loads(run("explain", "--format", "json", "recording").stdout)
    first = document["findings"][0]
    assert (first["kind"], first["place"]["line"]) == ("wrong result", line)
    (wrong,) = (c for c in document["verified"]["program_calls"] if c["outcome"] == "disagrees")
    assert (wrong["stage"], wrong["kind"]) == (stage, kind)


@pytest.mark.skipif(
    TORCH < (2, 12),
    reason="torch 2.8 to 2.11 leave this cast out with `emulate_precision_casts` as well: "
    "torch/_inductor/fx_passes/joint_graph.py (pointless_convert)",
)
@pytest.mark.parametrize("value", ["error", "bitwise"])
def test_casts_that_inductor_leaves_out_are_wrong_only_bitwise(
    value: str, run: Runner, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "@torch.compile\n"
        "def f(x):\n"
        "    y = x.to(torch.bfloat16)\n"
        "    return y.float() * 2\n"
        "f(torch.randn(64, generator=torch.Generator().manual_seed(0)))\n"
    )
    result = run("run", f"--verify={value}", "-o", "recording", program)
    if value == "bitwise":
        finding = json.loads(run("explain", "--format", "json", "recording").stdout)["findings"][0]
        assert (result.exit_code, finding["kind"], finding["place"]["line"]) == (117, "wrong result", 4)
        assert "emulate_precision_casts = True` keeps" in finding["remedies"][0]["text"]
        return
    assert result.exit_code == 0, result.stderr
    assert "more exact than written: call 1 of f, compiled at program.py:2" in result.stderr
    assert "first cast at program.py:4" in result.stderr
    assert "emulate_precision_casts = True keeps them (tried)" in result.stderr


def test_calls_that_reach_out_of_the_process_are_made_once(run: Runner, tmp_path: Path) -> None:
    program, written = tmp_path / "program.py", tmp_path / "written.txt"
    program.write_text(
        "import torch\n"
        "@torch.compile(backend='eager')\n"
        "def f(x):\n"
        f"    with open({str(written)!r}, 'a') as file:\n"
        "        file.write('x')\n"
        "    print('called')\n"
        "    return x + 1\n"
        "f(torch.ones(2))\n"
    )
    result = run("run", "--verify", "-o", "recording", program)
    assert (result.exit_code, result.stdout) == (0, "called\n")
    assert written.read_text() == "x"
    assert "not compared: 1 call of the program" in result.stderr


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("threading.Event().wait()", "it took longer than "),
        ("os.abort()", "it crashed in the copy of the process"),
        ("torch.ones(1 << 50)", "in the copy of the process there was too little memory"),
    ],
)
def test_a_copy_that_hangs_crashes_or_needs_memory_changes_nothing(
    what: str, why: str, run: Runner, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, threading, torch\n"
        "process = os.getpid()\n"
        "@torch.compiler.disable\n"
        "def in_a_copy():\n"
        "    if os.getpid() != process:\n"
        f"        {what}\n"
        "@torch.compile(backend='eager')\n"
        "def f(x):\n"
        "    in_a_copy()\n"
        "    return x + 1\n"
        "for _ in range(2):\n"
        "    print(f(torch.ones(2)))\n"
    )
    result = run("run", "-q", "--verify", "-o", "recording", program)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "tensor([2., 2.])\n" * 2, "")
    calls = verified(run, "recording")["program_calls"]
    assert calls and {call["outcome"] for call in calls} == {"not compared"}
    assert all(call["why"].startswith(why) for call in calls)


def test_a_training_loop_agrees_with_its_gradients(run: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import random, time, torch\n"
        "torch.manual_seed(0); random.seed(0)\n"
        "net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))\n"
        "step = torch.compile(net, backend='aot_eager')\n"
        "optimizer = torch.optim.AdamW(net.parameters())\n"
        "seen = []\n"
        "@torch.compile(backend='aot_eager')\n"
        "def noted(x):\n"
        "    seen.append(time.time())\n"
        "    return x * random.random()\n"
        "for _ in range(3):\n"
        "    loss = step(noted(torch.randn(8, 4))).pow(2).sum()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    optimizer.zero_grad()\n"
        "print(round(loss.item(), 4), len(seen))\n"
    )
    plain = run("run", "-q", "--capture", "none", program)
    result = run("run", "--verify=error", "-o", "recording", program)
    assert (result.exit_code, result.stdout) == (0, plain.stdout), result.stderr
    calls = verified(run, "recording")["program_calls"]
    assert [call["outcome"] for call in calls] == ["agrees"] * 6
    assert {call["gradients"] for call in calls} == {"compared", None}


def test_a_difference_in_a_captured_program_is_said_to_be_the_tools_own(run: Runner, tmp_path: Path) -> None:
    wrong = (VERIFIED_PROGRAMS / "wrong" / "metaclass_instancecheck.py").read_text()
    program = tmp_path / "program.py"
    program.write_text("".join(line for line in wrong.splitlines(True) if not line.startswith("@torch")))
    result = run("run", "--verify=error", "--backend", "eager", "-o", "recording", program)
    plain = run("run", "-q", "--capture", "none", "-o", "plain", program)
    skip_where_torch_is_right(result.stdout, plain.stdout)
    assert result.exit_code == 117, result.stderr
    first = json.loads(run("explain", "--format", "json", "recording").stdout)["findings"][0]
    line = next(i for i, text in enumerate(program.read_text().splitlines(), 1) if text.endswith("# cause"))
    assert (first["kind"], first["place"]["line"]) == ("wrong result", line)
    assert "step, captured at program.py:" in result.stderr
    assert "is a fault of `dynamo run`" in first["remedies"][0]["text"]


def test_a_rank_compares_its_own_calls_and_those_that_communicate_are_said(
    run: Runner, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, torch.distributed as dist\n"
        f"dist.init_process_group('gloo', init_method='file://{tmp_path}/store', rank=0, world_size=1)\n"
        "@torch.compile(backend='eager')\n"
        "def alone(x):\n"
        "    return x + 1\n"
        "@torch.compile(backend='eager')\n"
        "def together(x):\n"
        "    dist.all_reduce(x)\n"
        "    return x + 1\n"
        "for _ in range(3):\n"
        "    print(alone(torch.ones(2)), together(torch.ones(2)))\n"
        "dist.destroy_process_group()\n"
    )
    result = run("run", "--verify=error", "-o", "recording", program)
    # Gloo says there how many peers it has, with torch 2.8.
    printed = "".join(line for line in result.stdout.splitlines(True) if not line.startswith("[Gloo]"))
    assert (result.exit_code, printed) == (0, "tensor([2., 2.]) tensor([2., 2.])\n" * 3), result.stderr
    calls = verified(run, "recording")["program_calls"]
    outcomes = [(call["name"], call["outcome"]) for call in calls]
    assert outcomes.count(("alone", "agrees")) == 3
    assert [outcome for name, outcome in outcomes if name == "together"] == ["not compared"]


def test_nothing_to_verify_is_no_success(run: Runner) -> None:
    result = run("run", "--verify=error", "-c", "print('done')")
    assert (result.exit_code, result.stdout) == (115, "done\n")
    assert "--verify: nothing could be compared with eager; exit code 115\n" in result.stderr
    assert run("run", "-q", "--verify=error", "-c", "raise SystemExit(4)").exit_code == 4

"""--freeze-after, --override and --fullgraph on real programs: what they do, and what is told of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordings import PROGRAMS, SAMPLES
from running import Situation, assert_same_as_python
from support.answering import Result
from support.cases import one_in
from support.schemas import validate

Runner = Callable[..., Result]
OWN = str(PROGRAMS / "interventions.py")
TOY = str(SAMPLES / "toy_example.py")


def told(run: Runner, report: str, path: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run(report, "--format", "json", path).stdout)
    validate(document)
    return document


@pytest.fixture
def run(forked: Runner) -> Runner:
    """Nothing here is about how a process starts."""
    return forked


@pytest.mark.parametrize(
    "names",
    one_in(3, [("stances", "threads"), ("training", "reset", "generators"), ("whole_graphs",)]),
    ids="-".join,
)
def test_a_frozen_program_does_not_notice(names: tuple[str, ...], tmp_path: Path) -> None:
    options = ("--freeze-after", "1")
    situation = Situation("frozen", ("interventions.py", *names), options=options)
    assert_same_as_python(situation, tmp_path / "recording")


def test_after_the_freeze_nothing_is_compiled_and_the_reasons_are_torchs(run: Runner) -> None:
    result = run("run", "-o", "r", "--freeze-after", "1", OWN, "other_sizes")
    assert result.exit_code == 0
    assert (
        "Frozen after 1 call of compiled graphs: 3 calls of 1 frame matched no compiled version"
        in result.stderr
    )
    recompiles = told(run, "recompiles", "r")
    assert recompiles["frames"] == []
    (frame,) = recompiles["freeze"]["not_compiled"]
    assert (frame["name"], frame["times"]) == ("_double", 3)
    failures = [each["failures"][0] for each in frame["reasons"]]
    assert [(f["kind"], f["expected"], f["actual"]) for f in failures] == [
        ("size", "2", "3"),
        ("size", "2", "4"),
        ("size", "2", "5"),
    ]
    explained = told(run, "explain", "r")
    assert explained["summary"]["graphs"] == 1
    assert explained["freeze"] == recompiles["freeze"]
    assert "After the freeze" in run("explain", "--all", "r").stdout


def test_a_captured_program_is_frozen_as_well(run: Runner) -> None:
    frozen = run("run", "-o", "r", "--backend", "eager", "--freeze-after", "toy_example=1", TOY)
    assert frozen.exit_code == 0
    assert "Frozen after 1 call of toy_example" in frozen.stderr
    document = told(run, "explain", "r")
    assert document["freeze"]["processes"][0]["calls"] >= 1
    (branch,) = document["freeze"]["not_compiled"]  # the other way on from the break, never taken before
    assert branch["reasons"][0]["reasons"] == ["never compiled before"]


def test_on_recompile_error_names_the_frame_and_the_reason(run: Runner) -> None:
    options = ("--freeze-after", "_double=1", "--on-recompile", "error")
    result = run("run", "-o", "r", *options, OWN, "other_sizes")
    assert result.exit_code == 1
    assert "--on-recompile error: _double (" in result.stderr
    assert "the size of `x` at dimension 0 was 2 when it was compiled, and then 3" in result.stderr


@pytest.mark.parametrize(("after", "far"), [("1000", "5 of 1,000 calls"), ("main=3", "0 of 3 calls of main")])
def test_a_freeze_that_never_came_is_told(run: Runner, after: str, far: str) -> None:
    result = run("run", "-o", "r", "--freeze-after", after, OWN, "other_sizes")
    assert result.exit_code == 0
    assert f"Not frozen: {far}" in result.stderr


def test_arguments_are_replaced_wherever_the_program_compiles(run: Runner) -> None:
    options = ("--override", "backend=eager,dynamic=True", "--override", "frame=99,backend=eager")
    replaced = run("run", "-o", "r", *options, OWN, "every_way_to_compile")
    assert replaced.exit_code == 0
    document = told(run, "explain", "r")
    applied = {each["of"]: each for each in document["overrides"]["applied"]}
    assert {name.rpartition(".")[2] for name in applied} >= {
        "decorated",
        "with_arguments",
        "_double",
        "ReLU",
        "outer",
    }
    assert applied["ReLU"]["replaced"] == [
        {"argument": "dynamic", "was": "None", "now": "True"},
        {"argument": "backend", "was": "inductor", "now": "eager"},
        {"argument": "options", "was": "max_autotune=True", "now": "None"},
    ]
    assert document["overrides"]["unmatched"] == ["frame=99,backend=eager"]
    graphs = document["processes"][0]["graphs"]
    assert {graph["backend"] for graph in graphs} == {"eager"}
    eager = run("run", "-o", "e", "--override", "disable=True", OWN, "every_way_to_compile")
    assert (eager.exit_code, eager.stdout) == (0, replaced.stdout)
    assert told(run, "explain", "e")["summary"]["frames"] == 0


def test_one_compile_gets_another_backend(run: Runner) -> None:
    options = ("--backend", "eager", "--override", "frame=0,backend=aot_eager")
    assert run("run", "-o", "r", *options, TOY).exit_code == 0
    document = told(run, "explain", "r")
    backends = {graph["compile_id"]: graph["backend"] for graph in document["processes"][0]["graphs"]}
    assert backends == {"0/0": "aot_eager", "1/0": "eager", "2/0": "eager"}


@pytest.mark.parametrize(
    ("options", "exit_code", "said"),
    [
        (("--override", "backend=egaer"), 124, "did you mean 'eager'?"),
        (("--override", "bakcend=eager"), 2, "did you mean 'backend'?"),
        (("--override", "frame=x,backend=eager"), 2, "no compile id"),
        (("--freeze-after", "soon"), 2, "neither a number of calls"),
        (("--freeze-after", "helo=3"), 2, "the program has no function 'helo'; did you mean 'hello'?"),
        (("--on-recompile", "error"), 2, "--freeze-after"),
    ],
)
def test_bad_options_are_told_before_the_program_starts(
    run: Runner, tmp_path: Path, options: tuple[str, ...], exit_code: int, said: str
) -> None:
    result = run("run", *options, "-c", "def hello(): ...\nopen('it_ran', 'w')")
    assert (result.exit_code, len(result.stderr.splitlines())) == (exit_code, 1)
    assert said in result.stderr
    assert not (tmp_path / "it_ran").exists()


def test_the_first_break_ends_a_captured_program_with_its_report(run: Runner) -> None:
    result = run("run", "-o", "r", "--backend", "eager", "--fullgraph", TOY)
    assert result.exit_code == 118
    assert "❱  8     if b.sum() < 0:" in result.stderr
    assert "calculate both and choose, `torch.where(b.sum() < 0" in result.stderr
    assert result.stderr.splitlines()[-1].endswith("1 graph break in 1 frame, 0 graphs; exit code 118")
    (raised,) = told(run, "breaks", "r")["raised"]
    assert (raised["broke_at"]["line"], raised["kind"]) == (8, "Data-dependent branching")


def test_an_audit_that_keeps_going_lists_all_and_lets_the_program_finish(run: Runner) -> None:
    options = ("--backend", "eager", "--fullgraph=keep-going")
    result = run("run", "-o", "r", *options, str(PROGRAMS / "twenty_breaks.py"))
    assert result.exit_code == 118
    assert "\n20. " in result.stderr
    assert "--fullgraph: 20 graph breaks in " in result.stderr
    quiet = run("run", "-q", "-f", "-o", "r", *options, TOY)
    assert (quiet.exit_code, quiet.stderr) == (118, "")
    assert quiet.stdout.startswith("sum over 100 calls")


def test_an_audit_of_a_program_that_compiles_itself_replaces_fullgraph(run: Runner) -> None:
    clean = run("run", "-o", "r", "--fullgraph", OWN, "other_sizes")
    assert clean.exit_code == 0
    assert "--fullgraph: no graph breaks in " in clean.stderr
    assert "fullgraph False → True" in clean.stderr
    nothing = run("run", "-f", "-o", "r", "--fullgraph", "-c", "import torch")
    assert nothing.exit_code == 118
    assert "nothing was compiled" in nothing.stderr


def test_threads_that_compile_at_once_get_what_they_asked_for(run: Runner) -> None:
    result = run("run", "--override", "backend=aot_eager,eager", OWN, "compiling_at_once")
    assert "True 12 optimize\n" in result.stdout


def test_after_an_error_that_the_program_catches_it_is_compiled_as_before(
    run: Runner, tmp_path: Path
) -> None:
    program = tmp_path / "catches.py"
    program.write_text(
        "import torch\n"
        "def broken(x):\n    print('in broken')\n    return x + 1\n"
        "def whole(x):\n    return x * 2\n"
        "for _ in range(2):\n"
        "    try:\n        broken(torch.ones(2))\n"
        "    except Exception as error:\n        print(type(error).__name__)\n"
        "    print(whole(torch.ones(2)).sum())\n"
    )
    result = run("run", "-o", "r", "--backend", "eager", "--fullgraph", str(program))
    assert result.stdout.count("Unsupported") == 2
    summary = told(run, "explain", "r")["summary"]
    assert (summary["graphs"], summary["graph_calls"]) == (1, 2)


def test_a_file_of_backends_is_run_once(run: Runner, tmp_path: Path) -> None:
    backends = tmp_path / "backends.py"
    backends.write_text(
        "print('run')\n"
        "def none(gm, example_inputs):\n    return None\n"
        "def eager(gm, example_inputs):\n    return gm.forward\n"
    )
    chain = f"{backends}:none,{backends}:eager"
    result = run("run", "-o", "r", "--override", f"frame=0,backend={chain}", OWN, "other_sizes")
    assert result.exit_code == 0 and result.stdout.count("run\n") == 1
    second = told(run, "explain", "r")["processes"][0]["graphs"][1]
    assert second["assigned_backend"]["by"] == f"{backends}:eager"


def test_a_setting_of_torchs_is_given_another_value(run: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "@torch.compile(backend='eager')\n"
        "def scaled(x):\n"
        "    return x * x.sum().item()\n"
        "print(scaled(torch.ones(3)).tolist())\n"
    )
    name = "torch._dynamo.config.capture_scalar_outputs"
    plain = run("run", "-o", "plain", program)
    changed = run(
        "run", "-o", "changed", f"--config={name}=True", "--config=torch._dynamo.config.x=1", program
    )
    assert (plain.stdout, plain.exit_code) == (changed.stdout, changed.exit_code)
    assert told(run, "explain", "plain")["summary"]["graph_breaks"] == 1
    explained = told(run, "explain", "changed")
    assert explained["summary"]["graph_breaks"] == 0
    (done, not_done) = explained["overrides"]["settings"]
    assert (done["was"], done["now"], done["problem"]) == ("False", "True", None)
    assert not_done["problem"] == "this torch has no such setting"
    assert f"{name}: False → True" in run("explain", "--all", "changed").stdout

"""Custom backends, chains of them, those of packages, and `dynamo backends`."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launching import run_to_end
from recordings import PROGRAMS, SAMPLES
from support.answering import Result
from support.cases import nightly, one_in
from support.schemas import validate

PROGRAM = PROGRAMS / "infer_and_train.py"
ODD = PROGRAMS / "odd_backends.py"
COUNTED = ("graphs", "ops", "graph_breaks", "recompiles", "guards", "graph_calls", "frames_compiled")

Run = Callable[..., Result]


def as_python(program: Path) -> str:
    return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def backends_anew(environment: dict[str, str], tmp_path: Path) -> Run:
    """`dynamo backends` in a process that has yet to import torch, with more variables."""
    command = [sys.executable, "-m", "dynamo_cli", "backends"]
    return lambda *arguments, **more: run_to_end([*command, *arguments], environment | more, tmp_path)


@pytest.fixture
def run(forked: Callable[..., Result]) -> Callable[..., Result]:
    """Nothing here is about how a process starts."""
    return forked


@pytest.fixture(scope="module")
def plain_output() -> str:
    return as_python(PROGRAM)


def explained(run: Run, recording: str = "rec") -> dict[str, Any]:
    result = run("explain", "--format", "json", recording)
    document: dict[str, Any] = json.loads(result.stdout)
    validate(document)
    return document


def takings(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [graph["assigned_backend"] for process in document["processes"] for graph in process["graphs"]]


def test_each_graph_goes_to_the_first_that_takes_it(run: Run, plain_output: str) -> None:
    result = run("run", "-o", "rec", "--backend", "ofi,tensorrt,cudagraphs,aot_eager", PROGRAM)
    assert (result.exit_code, result.stdout) == (0, plain_output)
    assert "graphs by backend: aot_eager 3; ofi 1" in result.stderr
    infer, train, twice, saved_anew = takings(explained(run))
    assert infer == {"by": "ofi", "using": None, "declined": []}
    assert twice["by"] == "aot_eager"
    assert twice["declined"][0]["reason"].startswith("the graph changes its inputs")
    for assigned_backend in (train, saved_anew):
        assert assigned_backend["by"] == "aot_eager"
        reasons = {each["backend"]: each["reason"] for each in assigned_backend["declined"]}
        assert reasons["ofi"] == "the graph needs gradients, and ofi is for inference"
        assert reasons["tensorrt"] == "the package torch_tensorrt is not installed"
        assert reasons["cudagraphs"].startswith("cpu device (")
    page = run("explain", "--all", "rec").stdout
    assert "ofi declined 2 graphs: the graph needs gradients" in page
    graphs = run("graphs", "rec").stdout
    assert "backend aot_eager took" in graphs
    assert "tensorrt declined: the package torch_tensorrt is not installed" in graphs
    validate(json.loads(run("graphs", "--format", "json", "rec").stdout))


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        ("raises", "ValueError: not this one"),
        ("returns_text", "it returned a str, which is not callable"),
    ],
)
def test_a_backend_that_fails_is_named_and_the_program_goes_on(
    backend: str, reason: str, run: Run, plain_output: str
) -> None:
    result = run("run", "-o", "rec", "--backend", f"{ODD}:{backend}", PROGRAM)
    assert (result.exit_code, result.stdout) == (0, plain_output)
    assert "4 graphs that no backend took" in result.stderr
    document = explained(run)
    assert document["summary"]["graphs"] == 4
    for assigned_backend in takings(document):
        assert assigned_backend["by"] is None
        assert assigned_backend["declined"][0]["reason"].startswith(reason)
    page = run("explain", "--all", "rec").stdout
    assert "none (eager)" in page
    untaken = (
        f"no backend took graph 1 [0/0] infer at {PROGRAM}:7, it runs eager: odd_backends.py:{backend}: "
    )
    assert untaken in page
    assert reason in page


def test_a_backends_file_may_compile_something_for_itself(run: Run) -> None:
    backend = f"{SAMPLES / 'printing_backend.py'}:printing_backend"
    result = run("run", "--backend", backend, SAMPLES / "toy_example.py")
    assert result.stdout.count("-- a graph with 2 inputs") == 3
    assert "dynamo: 3 graphs, 8 ops" in result.stderr


def test_strict_makes_it_an_error_in_the_program(run: Run) -> None:
    result = run("run", "-o", "rec", "--strict", "--backend", f"{ODD}:raises,{ODD}:returns_none", PROGRAM)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "NoBackendTookGraph: --strict: no backend takes this graph" in result.stderr
    assert "returns_none: it returned None" in result.stderr
    assert "an error with --strict" in result.stderr
    document = explained(run)
    assert document["summary"]["frames_raised"] == 1
    assert document["summary"]["frames_fell_back"] == 0


def test_strict_holds_for_a_backend_of_torchs(environment: dict[str, str], tmp_path: Path) -> None:
    env = environment | {"CXX": "/bin/false", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "nothing_cached")}
    command = [sys.executable, "-m", "dynamo_cli", "run", "-o", "rec", "--strict", str(PROGRAM)]
    result = run_to_end(command, env, tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "No working C++ compiler" in result.stderr


def test_what_ends_the_program_is_not_swallowed(run: Run) -> None:
    exits = run("run", "--backend", f"{ODD}:exits,eager", PROGRAM)
    assert (exits.exit_code, exits.stdout) == (7, "")
    interrupted = run("run", "--backend", f"{ODD}:is_interrupted,eager", PROGRAM)
    assert interrupted.stdout == ""
    assert "KeyboardInterrupt" in interrupted.stderr
    assert interrupted.exit_code != 0


def test_options_and_modes_reach_a_backend(run: Run) -> None:
    backend = f"{ODD}:tells_options"
    options = ("--option", f"{backend}:level=3", "--option", f"{backend}:fast=true")
    result = run("run", "--backend", f"{ODD}:returns_none,{backend}", *options, "-c", ONE_GRAPH)
    assert "mode None, options {'level': 3, 'fast': True}" in result.stdout
    result = run("run", "--backend", f"{backend}:max-autotune", "-c", ONE_GRAPH)
    assert "mode max-autotune, options None" in result.stdout


ONE_GRAPH = "import torch\ndef f(x): return x.sin() + 1\nprint(f(torch.ones(2)).sum().item())"


@pytest.mark.parametrize("program", one_in(2, [PROGRAM, SAMPLES / "transformer.py"]))
def test_a_backend_in_a_chain_gets_what_it_gets_alone(program: Path, run: Run) -> None:
    """Also after another has rewritten what it was given: same results, same guards, same graphs."""
    backend = "aot_eager" if program == PROGRAM else "inductor"
    alone = run("run", "-q", "-o", "alone", "--backend", backend, program)
    chained = run("run", "-q", "-o", "chained", "--backend", f"{ODD}:mangles,{backend}", program)
    assert (chained.exit_code, chained.stdout) == (0, alone.stdout)
    one, other = explained(run, "alone"), explained(run, "chained")
    assert {name: other["summary"][name] for name in COUNTED} == {
        name: one["summary"][name] for name in COUNTED
    }
    assert {assigned_backend["by"] for assigned_backend in takings(other)} == {backend}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed a package with a `torch_dynamo_backends` entry point."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "thirdparty-backend"\nversion = "1.2.3"\n'
        '[project.entry-points."torch_dynamo_backends"]\n'
        'thirdparty = "thirdparty_backend:compile_graph"\n'
        'unusable = "thirdparty_backend.missing:compile_graph"\n'
        '[tool.setuptools]\npy-modules = ["thirdparty_backend"]\n'
    )
    (source / "thirdparty_backend.py").write_text(
        "def compile_graph(gm, example_inputs, *, options=None):\n"
        '    """Runs graphs as they are, those that are for inference."""\n'
        "    if any(getattr(value, 'requires_grad', False) for value in example_inputs):\n"
        "        return None\n"
        "    print('thirdparty compiles')\n"
        "    return gm.forward\n"
    )
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", target, source], check=True, capture_output=True)
    return target


def test_a_package_brings_a_backend(package: Path, run: Run, plain_output: str) -> None:
    env = {"PYTHONPATH": str(package)}
    result = run("run", "-o", "rec", "--backend", "thirdparty,aot_eager", PROGRAM, env=env)
    assert result.stdout.replace("thirdparty compiles\n", "") == plain_output
    assert [assigned_backend["by"] for assigned_backend in takings(explained(run))] == [
        "thirdparty",
        "aot_eager",
        "thirdparty",
        "aot_eager",
    ]
    alone = run("run", "--backend", "thirdparty", "-c", ONE_GRAPH, env=env)
    assert (alone.exit_code, alone.stdout.splitlines()[0]) == (0, "thirdparty compiles")
    assert "did you mean 'thirdparty'?" in run("run", "--backend", "thirdpart", "-c", "0", env=env).stderr
    unusable = run("run", "--backend", "unusable", "-c", "0", env=env)
    assert (unusable.exit_code, unusable.stdout) == (124, "")
    assert "ModuleNotFoundError" in unusable.stderr

    document = json.loads(run("backends", "--format", "json", env=env).stdout)
    validate(document)
    backends = {backend["name"]: backend for backend in document["backends"]}
    assert backends["thirdparty"]["source"] == "thirdparty-backend (thirdparty_backend:compile_graph)"
    assert (backends["thirdparty"]["origin"], backends["thirdparty"]["version"]) == ("package", "1.2.3")
    assert backends["thirdparty"]["import_error"] is None
    assert "No module named" in backends["unusable"]["import_error"]


def test_backends_are_listed_as_torch_lists_them(run: Run) -> None:
    code = "import json, torch._dynamo as d; print(json.dumps([d.list_backends(), d.list_backends(())]))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    usual, every = json.loads(answer.stdout.splitlines()[-1])
    document = json.loads(run("backends", "--format", "json").stdout)
    assert [backend["name"] for backend in document["backends"]] == ["ofi", "autotuned", *usual]
    everything = json.loads(run("backends", "--all", "--format", "json").stdout)
    validate(everything)
    registered = [backend["name"] for backend in everything["backends"] if backend["is_registered"]]
    assert registered == ["ofi", "autotuned", *every]
    assert document["hidden"] == len(everything["backends"]) - len(document["backends"])
    backends = {backend["name"]: backend for backend in everything["backends"]}
    assert backends["inductor"]["source"] == "torch/_dynamo/backends/inductor.py"
    assert backends["eager"]["tags"] == ["debug"]
    assert backends["tvm"]["devices"]["cpu"] == "the package tvm is not installed"
    assert backends["tensorrt"]["import_error"] == "the package torch_tensorrt is not installed"


def test_a_missing_compiler_keeps_inductor_from_the_cpu(backends_anew: Run) -> None:
    document = json.loads(backends_anew("--format", "json", CXX="/bin/false").stdout)
    (inductor,) = [backend for backend in document["backends"] if backend["name"] == "inductor"]
    assert "No working C++ compiler" in inductor["devices"]["cpu"]


def test_check_says_what_was_seen(backends_anew: Run) -> None:
    works = json.loads(backends_anew("aot_eager", "--check", "--format", "json").stdout)
    validate(works)
    assert works["backend"]["trial"]["works"]
    fails = json.loads(backends_anew("cudagraphs", "--check", "--format", "json").stdout)
    assert not fails["backend"]["trial"]["works"]


@nightly
def test_a_check_that_takes_too_long_is_ended(backends_anew: Run) -> None:
    late = backends_anew("inductor", "--check", "--time-limit", "1")
    assert "it did not end within 1 s" in late.stdout


def test_the_options_of_one(run: Run, tmp_path: Path) -> None:
    document = json.loads(run("backends", "inductor", "--format", "json").stdout)
    validate(document)
    assert document["modes"]["max-autotune"]["max_autotune"] is True
    assert document["options"]["max_autotune"] is False
    assert "epilogue_fusion" not in run("backends", "inductor").stdout
    assert "epilogue_fusion" in run("backends", "inductor", "--all").stdout
    (tmp_path / "mine.py").write_text(
        "print('this file was run')\ndef mine(gm, inputs, *, options=None):\n    'Mine alone.'\n"
    )
    for name in ("mine.py:mine", "mine:mine"):
        page = run("backends", name).stdout
        assert "def mine(gm, inputs, *, options=None)" in page
        assert "Mine alone." in page
        assert "It takes options" in page
        assert "was run" not in page


@pytest.mark.parametrize(
    ("backend", "hint"),
    [
        ("eager,nosuch_at_all", "`dynamo backends --all` lists"),
        ("eager,autotune", "did you mean 'autotuned'?"),
        ("inductor:max-autotun", "did you mean 'max-autotune'?"),
        ("eager,inductor:fast", "backend 'inductor' has no mode 'fast'"),
        ("ofi:max-autotune", "takes neither a mode nor options"),
        ("eager,nosuch.py:f", "cannot read backend file"),
        (f"{ODD}:raise,eager", "did you mean 'raises'?"),
        ("eager,json:f", "defines no 'f'"),
        ("tensorrt", "the package torch_tensorrt is not installed"),
    ],
)
def test_a_bad_backend_is_one_line(backend: str, hint: str, run: Run) -> None:
    result = run("run", "--backend", backend, "-c", "print('ran')")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (124, "", 1)
    assert hint in result.stderr


def test_backends_wants_a_name_and_a_python_that_are_there(run: Run) -> None:
    assert run("backends", "inducto").exit_code == 124
    assert run("backends", "--python", "/no/python").exit_code == 127

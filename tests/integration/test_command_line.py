"""The command line: forms of programs, output, DYNAMO_LOGS, and one line for each mistake."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from launching import Runner
from recordings import SAMPLES
from support.answering import Result
from support.cases import one_in
from support.torch_version import TORCH

TOY = SAMPLES / "toy_example.py"
COMPUTES = "import torch\ndef work(x): return x.sin() + 1\nprint(float(work(torch.zeros(3)).sum()))\n"
EAGER = ("--backend", "eager")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(COMPUTES)
    return path


def test_every_form_of_a_program_is_captured(
    forked: Runner, run: Runner, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(COMPUTES)
    (tmp_path / "package" / "module.py").write_text(COMPUTES)
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", COMPUTES)
    forms: list[tuple[Any, ...]] = [
        (program,),
        ("-m", "package.module"),
        ("-c", COMPUTES),
        ("-",),
        ("package",),
        ("app.pyz",),
        ("--", sys.executable, program),
        ("--", "sh", "-c", f"{sys.executable} {program}"),
    ]
    for i, form in enumerate(one_in(2, forms)):
        starts_anew = form[0] in ("-", "--", "package", "app.pyz")
        start = run if starts_anew else forked
        result = start("run", *EAGER, "-o", f"rec{i}", *form, stdin=COMPUTES if form == ("-",) else "")
        assert (result.exit_code, result.stdout) == (0, "3.0\n"), form
        assert "1 graph, 2 ops, 0 graph breaks" in result.stderr, (form, result.stderr)


def test_summary_on_stderr_names_the_break_and_the_next_command(forked: Runner) -> None:
    result = forked("run", *EAGER, TOY)
    assert "3 graphs, 8 ops, 1 graph break, 0 recompiles" in result.stderr
    assert "1. graph break at " in result.stderr
    number = " (GB0170)" if TORCH >= (2, 9) else ""  # 2.8 does not number its breaks
    assert f"toy_example.py:8 Data-dependent branching{number}\n" in result.stderr
    assert result.stderr.rstrip().endswith("next: dynamo explain")
    assert "dynamo:" not in result.stdout


def test_quiet_prints_nothing(forked: Runner, program: Path) -> None:
    assert forked("run", "-q", *EAGER, program).stderr == ""
    assert forked("run", "-q", "-c", "pass").stderr == ""


def test_explain_without_target_takes_the_newest(run: Runner, forked: Runner, tmp_path: Path) -> None:
    forked("run", "-q", *EAGER, TOY)
    run("run", "-q", "-c", "pass")
    assert "imported torch, so there is nothing" in forked("explain").stdout
    names = sorted(path.name for path in (tmp_path / ".dynamo").iterdir())
    listing = forked("ls").stdout
    assert all(name in listing for name in names if name != ".gitignore")
    toy = next(name for name in names if name.startswith("toy"))
    report = forked("explain", f".dynamo/{toy}").stdout
    assert report.startswith("3 graphs, 8 ops, 1 graph break")


def test_explain_a_program_keeps_stdout_for_the_report(forked: Runner, tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("print('mine'); raise SystemExit(7)")
    result = forked("explain", "--format", "json", script)
    assert result.exit_code == 7
    assert json.loads(result.stdout)["summary"]["exit_code"] == 7
    assert "mine" in result.stderr


def test_explain_a_program_again_says_what_became_of_the_findings(forked: Runner, tmp_path: Path) -> None:
    script = tmp_path / "edited.py"
    lines = [
        "import torch",
        "def f(x):",
        "    print('seen')",
        "    return x.sin()",
        "torch.compile(f, backend='eager')(torch.ones(2))",
    ]
    script.write_text("\n".join(lines))
    first = forked("explain", "--json", script)
    assert json.loads(first.stdout)["since"] is None
    script.write_text("\n".join(line for line in lines if "seen" not in line))
    cured = "1 gone (graph break at edited.py:3), none new, none still there."
    assert cured in forked("explain", script).stdout
    script.write_text("\n".join(lines))
    again = json.loads(forked("explain", "--json", script).stdout)["since"]
    assert (again["gone"], again["new"]) == ([], ["graph break at edited.py:3"])
    script.write_text("raise SystemExit(3)\n" + "\n".join(lines))
    ended_early = forked("explain", "--json", script)
    assert (ended_early.exit_code, json.loads(ended_early.stdout)["since"]["is_compared"]) == (3, False)


def test_explain_writes_a_file(run: Runner, tmp_path: Path) -> None:
    run("run", "-q", "-o", "rec", "-c", "pass")
    assert run("explain", "-o", "out.json", "--format", "json", "rec") == Result(0, "", "")
    assert json.loads((tmp_path / "out.json").read_text())["schema"] == "dynamo-explain"
    assert run("explain", "rec", "-o", "out.txt") == Result(0, "", "")
    assert "imported torch, so there is nothing" in (tmp_path / "out.txt").read_text()


def test_logs_print_each_topic_while_the_program_runs(forked: Runner) -> None:
    result = forked("run", *EAGER, TOY, env={"DYNAMO_LOGS": "+all,bytecode,++breaks"})
    for wanted in (
        "opcode         name    target            args, kwargs",
        "graph 1 [0/0] 5 ops",
        "bytecode [0/0] toy_example",
        "TENSOR_MATCH",
        "graph break [0/0]",
        "torch's reason: generic_jump",
        "ops of graph 1",
        "compile [0/0] toy_example took",
    ):
        assert wanted in result.stderr, wanted
    assert "LOAD_FAST" not in result.stderr
    assert "opcode" not in result.stdout


def test_an_active_bisection_is_said_first_and_in_the_recording(forked: Runner, tmp_path: Path) -> None:
    status = tmp_path / "caches" / "bisect" / "bisect_status.txt"
    status.parent.mkdir(parents=True)
    status.write_text("backend=eager\nsubsystem=\n")
    program = "import torch; torch.compile(torch.nn.ReLU())(torch.ones(2))"
    result = forked(
        "run", "-o", "r", "-c", program, env={"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "caches")}
    )
    active = f"backend eager ({status})"
    assert result.stderr.startswith(f"dynamo: torch's compiler bisector is active, {active}: the program is")
    explained = json.loads(forked("explain", "r", "--json").stdout)
    assert [line.partition(": ")[0] for line in explained["bisections"]] == [active]
    assert [graph["backend"] for graph in explained["processes"][0]["graphs"]] == ["eager"]


def test_logs_help_and_a_wrong_name(forked: Runner, tmp_path: Path) -> None:
    shown = forked("run", "x.py", env={"DYNAMO_LOGS": "help"})
    assert "recompiles" in shown.stdout + shown.stderr
    (tmp_path / "x.py").write_text("")
    wrong = forked("run", "x.py", env={"DYNAMO_LOGS": "gaurds"})
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "did you mean 'guards'?" in wrong.stderr


MISTAKES: list[tuple[list[str], int, str]] = [
    (["rnu", "x.py"], 2, "did you mean 'run'?"),
    (["next"], 2, "no such command 'next'; try"),
    (["serve", "x"], 2, "not NVIDIA Dynamo"),
    (["run", "out=vllm"], 127, "not NVIDIA Dynamo"),
    (["run"], 2, "name the program"),
    (["run", "--bakend", "eager", "ok.py"], 2, "--backend"),
    (["run", "--capture", "some", "ok.py"], 2, "auto"),
    (["run", "--option", "x", "ok.py"], 2, "KEY=VALUE"),
    (["run", "--mode", "x", "--option", "a=1", "ok.py"], 2, "a mode or options, not both"),
    (["run", "nosuch.py"], 127, "no such file: nosuch.py"),
    (["run", "folder"], 126, "without a __main__.py"),
    (["run", "--", "nosuchcommand"], 127, "no such command"),
    (["run", "--", "./ok.py"], 126, "not executable"),
    (["run", "--python", "/no/python", "ok.py"], 127, "--python /no/python does not exist"),
    (["run", "--python", "/bin/true", "ok.py"], 126, "not a Python 3.10"),
    (["run", "--backend", "eagre", "ok.py"], 124, "did you mean 'eager'?"),
    (["run", "--backend", "nosuch.py:f", "ok.py"], 124, "cannot read backend file"),
    (["run", "--backend", "ok.py:f", "ok.py"], 124, "defines no 'f'"),
    (["run", "--backend", "json:f", "ok.py"], 124, "defines no 'f'"),
    (["run", "--backend", "nosuchmodule:f", "ok.py"], 124, "No module named"),
    (["run", "--mode", "fast", "ok.py"], 124, "Unrecognized mode=fast"),
    (["run", "--option", "max_autotun=1", "ok.py"], 124, "did you mean 'max_autotune'?"),
    (["run", "-o", "folder", "ok.py"], 120, "add -f"),
    (["run", "-f", "-o", "folder", "ok.py"], 120, "left alone"),
    (["run", "-o", "/proc/no/where", "ok.py"], 120, "cannot record to"),
    (["explain", "nosuch"], 123, "no recording and no program"),
    (["explain"], 123, "no recording in"),
    (["explain", "notes.txt"], 121, "no record of a torch trace"),
    (["explain", "empty.log"], 121, "is empty"),
    (["explain", "--format", "xml"], 2, "json"),
    (["ls", "nosuch"], 123, "no such folder"),
]


@pytest.mark.parametrize(("arguments", "exit_code", "hint"), MISTAKES, ids=lambda value: str(value)[:40])
def test_a_mistake_is_one_line_and_an_exit_code(
    arguments: list[str], exit_code: int, hint: str, forked: Runner, tmp_path: Path
) -> None:
    (tmp_path / "ok.py").write_text("print('ran')")
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "empty.log").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").touch()
    result = forked(*arguments)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert hint in result.stderr
    assert result.stderr.startswith("dynamo: ")
    assert result.stderr.count("\n") == 1
    assert (tmp_path / "folder" / "mine").exists()


def test_force_replaces_a_recording_and_nothing_else(forked: Runner, tmp_path: Path) -> None:
    assert forked("run", "-q", "-o", "rec", "-c", "pass").exit_code == 0
    assert forked("run", "-q", "-o", "rec", "-c", "pass").exit_code == 120
    assert forked("run", "-q", "-f", "-o", "rec", "-c", "raise SystemExit(3)").exit_code == 3


def test_python_flags_that_switch_us_off_are_named(run: Runner) -> None:
    result = run("run", "--", sys.executable, "-I", "-c", "import torch")
    assert "python -I switches the recording off" in result.stderr
    assert "Nothing was recorded" in result.stderr


def test_a_missing_compiler_is_said_before_the_program_starts(forked: Runner, program: Path) -> None:
    result = forked("run", program, env={"CXX": "/no/compiler"})
    assert "no C++ compiler ($CXX=/no/compiler)" in result.stderr
    assert (result.exit_code, result.stdout) == (0, "3.0\n")


def test_nothing_imports_torch_but_the_program(run: Runner, environment: Any) -> None:
    run("run", "-q", "-o", "rec", "-c", "pass")
    for arguments in (["--help"], ["ls"], ["explain", "--help"]):
        code = f"import sys; sys.argv[1:] = {arguments}; from dynamo_cli.main import main\n"
        code += "try: main()\nfinally: print('torch' in sys.modules, file=sys.stderr)"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert done.stderr.endswith("False\n")


def test_explain_does_not_import_what_few_recordings_need(environment: Any) -> None:
    code = "import sys; from dynamo_cli.report_commands import explain_command; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    imported = done.stdout.split()
    assert "dynamo_core.case" in imported
    assert {"torch", "multiprocessing", "ctypes", "statistics", "html"}.isdisjoint(imported)


def test_help_has_examples_and_environment_variables(forked: Runner) -> None:
    assert all(said in forked("run", "--help").stdout for said in ("Examples:", "-m package.module"))
    text = forked("run", "--help-all").stdout
    for variable in ("DYNAMO_BACKEND", "DYNAMO_CAPTURE", "DYNAMO_RECORDING", "DYNAMO_QUIET", "DYNAMO_LOGS"):
        assert variable in text


def test_an_option_can_come_from_the_environment(forked: Runner, program: Path) -> None:
    result = forked("run", program, env={"DYNAMO_BACKEND": "eagre"})
    assert result.exit_code == 124


def test_a_file_beside_the_user_does_not_shadow_ours(run: Runner, tmp_path: Path) -> None:
    for name in ("click", "json", "rich", "core", "reporters", "tabulate"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')")
    assert run("run", "-q", "-c", "print(1)") == Result(0, "1\n", "")

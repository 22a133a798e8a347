"""`dynamo env` prints what `dynamo run` gives its processes, in the form that a launcher takes."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from dynamo_core.launch.run import environment_for
from dynamo_core.shared.names import SETTINGS_VARIABLE
from dynamo_core.shared.settings import Settings
from support.answering import answer


def test_json_is_the_environment_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)  # which a job would keep
    given = answer("env", "-o", "there", "--semantics", "compiled", "--format", "json", cwd=tmp_path)
    settings = Settings(str(tmp_path / "there"), semantics="compiled", makes_folder=True)
    expected = environment_for(settings, {})
    assert {name: json.loads(given.stdout)[name] for name in expected} == expected
    assert not (tmp_path / "there").exists()  # the first process makes it


def test_a_shell_keeps_the_path_that_it_has(tmp_path: Path) -> None:
    lines = answer(
        "env", "-o", "a folder", "--config", "torch._dynamo.config.verbose=True", cwd=tmp_path
    ).stdout
    show = 'printf "%s\\n" "$DYNAMO_RUN_RECORDING" "$DYNAMO_RUN_SETTINGS" "$PYTHONPATH"'
    shown = subprocess.run(
        ["sh", "-c", lines + show], env={"PYTHONPATH": "/mine"}, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown[0] == str(tmp_path / "a folder")
    assert json.loads(shown[1])["config"] == ["torch._dynamo.config.verbose=True"]
    assert shown[2].endswith("/capture/bootstrap:/mine")


@pytest.mark.parametrize("form", ["docker", "k8s", "slurm", "ray"])
def test_other_forms_say_what_each_host_must_have(form: str, tmp_path: Path) -> None:
    result = answer(
        "env", "-o", "/shared/{job}", "--format", form, "--backend", "not_known_here", cwd=tmp_path
    )
    assert result.exit_code == 0
    assert "/shared/{job}" in result.stdout and "not_known_here" in result.stdout
    assert "dynamo_core" in result.stderr


def test_docker_takes_the_lines_as_they_are(tmp_path: Path) -> None:
    result = answer("env", "-o", "/shared/{job}", "--format", "docker", cwd=tmp_path)
    variables = dict(line.split("=", 1) for line in result.stdout.splitlines())
    assert json.loads(variables["DYNAMO_RUN_SETTINGS"])["makes_folder"] is True
    assert variables["PYTHONPATH"] == "/opt/dynamo_core/capture/bootstrap"
    package, target, _ = shlex.split(result.stderr)[shlex.split(result.stderr).index("--volume") + 1].split(
        ":"
    )
    assert Path(package, "capture/bootstrap/sitecustomize.py").is_file() and target == "/opt/dynamo_core"
    assert "--volume /shared:/shared" in result.stderr


def test_ray_gets_its_runtime_env(tmp_path: Path) -> None:
    given = answer("env", "-o", "x", "--format", "ray", "--installed-at", "/opt/d/dynamo_core", cwd=tmp_path)
    assert json.loads(given.stdout)["env_vars"]["PYTHONPATH"] == "/opt/d/dynamo_core/capture/bootstrap"


def test_a_budget_is_a_percentage(tmp_path: Path) -> None:
    for value, share in (("20%", 0.2), ("7.5", 0.075)):
        given = json.loads(answer("env", "--format", "json", "--verify-budget", value, cwd=tmp_path).stdout)
        assert json.loads(given[SETTINGS_VARIABLE])["verify_budget"] == pytest.approx(share)
    refused = answer("env", env={"DYNAMO_VERIFY_BUDGET": "0%"}, cwd=tmp_path)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "'0%' is no percentage above 0 and up to 100, such as 20%" in refused.stderr


def test_what_is_tried_has_a_time(tmp_path: Path) -> None:
    for options, time in (((), 60), (("--try-budget", "2m"), 120), (("--try-budget", "7.5"), 7.5)):
        given = json.loads(answer("env", "--format", "json", *options, cwd=tmp_path).stdout)
        assert json.loads(given[SETTINGS_VARIABLE])["try_budget"] == time
    refused = answer("env", env={"DYNAMO_TRY_BUDGET": "0s"}, cwd=tmp_path)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "'0s' is no time: 90s, 10m or 1h" in refused.stderr


def test_the_default_place_has_a_folder_for_each_job(tmp_path: Path) -> None:
    given = json.loads(answer("env", "--format", "json", cwd=tmp_path).stdout)
    assert given["DYNAMO_RUN_RECORDING"] == str(tmp_path / ".dynamo" / "{job}")


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["-o", "file"], 120, "is no folder"),
        (["-o", "."], 120, "is not empty, and no recording"),
        (["-o", "new", "--backend", "gone.py:f"], 124, "cannot read backend file gone.py"),
        (["-o", "new", "--verify=error"], 2, "only `dynamo run`"),
        (["-o", "new", "--verify=bitwise"], 2, "--verify=bitwise changes the exit code"),
        (["-o", "new", "--fullgraph=keep-going"], 2, "only `dynamo run`"),
        (["-o", "new", "--format", "yaml"], 2, "yaml"),
        (["-o", "new\nline"], 120, "control characters"),
    ],
)
def test_bad_input_is_one_line(options: list[str], code: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = answer("env", *options, cwd=tmp_path)
    assert (result.exit_code, result.stdout) == (code, "")
    assert says in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(("options", "variables"), [(("--try",), {}), ((), {"DYNAMO_TRY": "1"})])
def test_changes_are_tried_where_that_is_asked_for(
    options: tuple[str, ...], variables: dict[str, str], tmp_path: Path
) -> None:
    given = json.loads(answer("env", *options, "--format", "json", cwd=tmp_path, env=variables).stdout)
    assert json.loads(given["DYNAMO_RUN_SETTINGS"])["try_changes"] is True

"""Settings on their way through the environment, which is a program's own but for them, and as text."""

import json
import shlex
from typing import Any

import pytest

from dynamo_core.launch.exported import environment_text
from dynamo_core.launch.process import Ending
from dynamo_core.launch.run import BOOTSTRAP_FOLDER, environment_for
from dynamo_core.shared.names import RECORDING_VARIABLE, SETTINGS_VARIABLE
from dynamo_core.shared.settings import ExportSettings, Settings

FULL = Settings(
    "/rec",
    options={"size": 3},
    override=("dynamic=True",),
    config=("a.b=1", "c.d=2"),
    step_frames=(("train.py", 3, "step"),),
    trace_limit=None,
    export=ExportSettings(1.5, 3, save=True),
)


@pytest.mark.parametrize("settings", [Settings("/rec"), FULL])
def test_settings_are_the_same_behind_the_environment(settings: Settings) -> None:
    variables = settings.to_environment()
    assert set(variables) == {RECORDING_VARIABLE, SETTINGS_VARIABLE}
    assert variables[RECORDING_VARIABLE] == "/rec" and "/rec" not in variables[SETTINGS_VARIABLE]
    assert Settings.from_environment({**variables, "HOME": "/root"}) == settings


def test_an_environment_without_settings_has_none() -> None:
    with pytest.raises(KeyError):
        Settings.from_environment({RECORDING_VARIABLE: "/rec"})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, ""),
        ({"PYTHONPATH": ""}, ""),
        ({"PYTHONPATH": "/a:/b"}, ":/a:/b"),
        ({"PYTHONPATH": ":/a"}, "::/a"),
        ({"PYTHONPATH": f"/a:{BOOTSTRAP_FOLDER}:/b"}, ":/a:/b"),
        ({"PYTHONPATH": str(BOOTSTRAP_FOLDER)}, ""),
    ],
)
def test_our_folder_is_the_first_to_import_from_and_there_once(before: dict[str, str], after: str) -> None:
    environment = environment_for(Settings("/new"), {"HOME": "/root", RECORDING_VARIABLE: "/old", **before})
    assert environment["PYTHONPATH"] == f"{BOOTSTRAP_FOLDER}{after}"
    assert (environment["HOME"], environment[RECORDING_VARIABLE]) == ("/root", "/new")


@pytest.mark.parametrize(
    ("code", "exit_code", "signal"),
    [(0, 0, None), (1, 1, None), (255, 255, None), (-9, None, 9), (-1, None, 1)],
)
def test_a_negative_return_code_is_a_signal(code: int, exit_code: int | None, signal: int | None) -> None:
    assert Ending.of_return_code(code) == Ending(exit_code, signal)


def variables_in(text: str) -> dict[str, Any]:
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


def test_for_a_shell_each_variable_is_exported_quoted_and_the_path_is_put_in_front() -> None:
    text, notes = environment_text(Settings("/my rec"), "shell")
    first, _, last = text.split("\n")
    assert shlex.split(first) == ["export", f"{RECORDING_VARIABLE}=/my rec"]
    assert last == f'export PYTHONPATH={BOOTSTRAP_FOLDER}"${{PYTHONPATH:+:$PYTHONPATH}}"'
    assert notes == []
    text, (note,) = environment_text(Settings("/rec"), "slurm")
    assert text.count("export ") == 3 and "each host must have dynamo-cli" in note


def test_as_json_the_path_of_this_process_goes_along_unless_another_place_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setenv("MALLORY", "1")
    text, notes = environment_text(Settings("/rec"), "json")
    here = variables_in(text)
    assert here["PYTHONPATH"] == f"{BOOTSTRAP_FOLDER}:/mine" and "MALLORY" not in here and notes == []
    text, (note,) = environment_text(Settings("/rec"), "json", "/opt/x/dynamo_core/")
    assert variables_in(text)["PYTHONPATH"] == "/opt/x/dynamo_core/capture/bootstrap"
    assert "--target /opt/x dynamo-cli" in note


def test_for_a_container_the_package_and_the_folder_are_mounted_unless_they_are_there() -> None:
    text, (alone, mounts) = environment_text(Settings("/data/{job}"), "docker")
    assert "PYTHONPATH=/opt/dynamo_core/capture/bootstrap" in text.split("\n")
    assert alone.startswith("PYTHONPATH is set to this alone")
    assert ":/opt/dynamo_core:ro --volume /data:/data" in mounts
    _, (_, root) = environment_text(Settings("/{job}"), "docker")
    assert root.endswith("--volume /:/")
    text, (_, hosts) = environment_text(Settings("/rec"), "docker", "/x")
    assert "PYTHONPATH=/x/capture/bootstrap" in text.split("\n")
    assert "its package at /x" in hosts and "--volume" not in hosts


def test_for_kubernetes_what_it_would_replace_is_escaped() -> None:
    text, notes = environment_text(Settings("/$(HOME)"), "k8s")
    assert text.startswith(f'env:\n  - name: {RECORDING_VARIABLE}\n    value: "/$$(HOME)"\n')
    assert len(notes) == 2


def test_for_ray_it_is_a_runtime_environment() -> None:
    text, notes = environment_text(Settings("/rec"), "ray")
    assert variables_in(text)["env_vars"][RECORDING_VARIABLE] == "/rec"
    assert len(notes) == 2

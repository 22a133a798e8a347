"""What a run and its processes say of themselves: typed where it is what it should be, and kept as it was."""

import pytest

from dynamo_core.model import ProcessEnd, ProcessInfo, Run


def test_what_was_said_is_kept_in_its_order() -> None:
    said = {"torch": "2.13.0", "unheard_of": [1], "pid": 7}
    info = ProcessInfo.of(said)
    assert (info.pid, info.torch, info.python) == (7, "2.13.0", None)
    assert list(info.as_json().items()) == list(said.items())


@pytest.mark.parametrize("pid", ["7", True, 7.5, [7], 10**400])
def test_what_is_of_a_wrong_type_is_not_recorded(pid: object) -> None:
    assert ProcessInfo.invalid_fields({"pid": pid, "forked": True}) == {"pid"}
    assert ProcessInfo.of({"pid": pid}).pid is None


def test_the_inside_of_a_field_is_looked_at() -> None:
    assert ProcessEnd.of({"peak_memory": {"resident": 1}}).peak_memory == {"resident": 1}
    assert ProcessEnd.of({"peak_memory": {"resident": "much"}}).peak_memory is None


@pytest.mark.parametrize("settings", [None, "auto", ["verify"], {"verify": 1}])
def test_settings_that_are_none_say_nothing(settings: object) -> None:
    run = Run.of({"settings": settings, "exit_code": 3})
    assert (run.exit_code, run.settings.verify) == (3, None)
    assert run.as_json()["settings"] == settings


def test_settings_are_typed_as_well() -> None:
    settings = Run.of({"settings": {"verify": "report", "override": ["a=b"], "capture_budget": 30}}).settings
    assert (settings.verify, settings.override, settings.capture_budget) == ("report", ["a=b"], 30)

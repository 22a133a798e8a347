"""What a run says of itself: typed where it is what it should be, and kept as it was."""

import pytest

from dynamo_core.model import Run


def test_what_was_said_is_kept_in_its_order() -> None:
    said = {"dynamo": "0.1.0", "unheard_of": [1], "exit_code": 7}
    run = Run.of(said)
    assert (run.exit_code, run.dynamo, run.program) == (7, "0.1.0", None)
    assert list(run.as_json().items()) == list(said.items())


@pytest.mark.parametrize("pid", ["7", True, 7.5, [7], 10**400])
def test_what_is_of_a_wrong_type_is_not_recorded(pid: object) -> None:
    assert Run.of({"launcher_pid": pid}).launcher_pid is None


def test_the_inside_of_a_field_is_looked_at() -> None:
    assert Run.of({"notes": ["one"]}).notes == ["one"]
    assert Run.of({"notes": [1]}).notes is None


@pytest.mark.parametrize("settings", [None, "auto", ["verify"], {"verify": 1}])
def test_settings_that_are_none_say_nothing(settings: object) -> None:
    run = Run.of({"settings": settings, "exit_code": 3})
    assert (run.exit_code, run.settings.verify) == (3, None)
    assert run.as_json()["settings"] == settings


def test_settings_are_typed_as_well() -> None:
    settings = Run.of({"settings": {"verify": "report", "override": ["a=b"], "capture_budget": 30}}).settings
    assert (settings.verify, settings.override, settings.capture_budget) == ("report", ["a=b"], 30)

"""What may stand in --config, and what it makes of a setting."""

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dynamo_core.capture.interventions.override import install_for
from dynamo_core.shared.choices import parse_config


def test_a_setting_has_a_module_a_name_and_a_literal() -> None:
    change = parse_config("torch._inductor.config.cpp.threads=4")
    assert (change.module, change.name, change.value) == ("torch._inductor.config", "cpp.threads", 4)
    assert str(change) == "torch._inductor.config.cpp.threads=4"
    assert parse_config("torch._dynamo.config.debug_dir_root=/tmp/x").value == "/tmp/x"
    assert str(parse_config("torch._dynamo.config.a.b += c.d")) == "torch._dynamo.config.a.b+=c.d"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "capture_scalar_outputs=True",
        "torch._dynamo.config.x",
        "os.environ.x=1",
        "torch._dynamo.config.=1",
    ],
)
def test_what_is_no_setting_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"torch\._dynamo\.config|names no setting"):
        parse_config(text)


def changed(text: str, **settings: Any) -> tuple[dict[str, Any], Any]:
    """The settings after `text` was applied to them, and the record of it."""
    module = ModuleType("torch._dynamo.config")
    records: list[Any] = []
    vars(module).update(settings)
    parts: Any = SimpleNamespace(stream=SimpleNamespace(record=records.append))
    install_for([parse_config(f"torch._dynamo.config.{text}")])(module, parts)
    return {name: getattr(module, name) for name in settings}, records[0]


def test_a_setting_is_set_and_both_values_are_recorded() -> None:
    settings, record = changed("recompile_limit=64", recompile_limit=8)
    assert settings == {"recompile_limit": 64}
    assert (record.was, record.now, record.problem) == ("8", "64", None)


def test_a_function_is_added_by_its_name() -> None:
    settings, _ = changed("functions+=textwrap.dedent", functions={print})
    import textwrap

    assert settings == {"functions": {print, textwrap.dedent}}
    assert changed("functions+=print", functions=set())[0] == {"functions": {print}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("unknown=1", "no such setting"),
        ("flag=hello", "is bool and cannot become"),
        ("flag+=print", "nothing can be added"),
        ("functions+=no_such_module.f", "is not there"),
    ],
)
def test_what_does_not_fit_is_left_alone(text: str, problem: str) -> None:
    settings, record = changed(text, flag=True, functions=set())
    assert settings == {"flag": True, "functions": set()}
    assert problem in record.problem

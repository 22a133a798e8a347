"""A checkpoint of what torch.compile returned has other names than the module's own: the first action."""

from collections.abc import Callable
from pathlib import Path

import pytest

import dynamo_core
from support.answering import Result

SAVED = """
import torch
model = torch.nn.Linear(4, 4)
compiled = torch.compile(model, backend="eager")
compiled(torch.ones(2, 4))
saved = {}.state_dict()
{}.load_state_dict(saved)
print("loaded")
"""


@pytest.mark.parametrize("names", [("compiled", "model"), ("model", "compiled")])
def test_it_is_the_first_action_and_its_advice_cures(
    run: Callable[..., Result], tmp_path: Path, names: tuple[str, str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(SAVED.format(*names))
    assert run("run", "-q", "-o", "broken", "program.py").exit_code == 1
    first = dynamo_core.open(tmp_path / "broken").findings[0]
    assert first.kind == "error with compiled code"
    assert first.place is not None and first.place.line == 7
    assert "by `_orig_mod.`" in first.title
    assert "`model.state_dict()`" in first.remedies[0].text
    program.write_text(SAVED.format("model", "model"))
    cured = run("run", "-q", "-o", "cured", "program.py")
    assert (cured.exit_code, cured.stdout) == (0, "loaded\n")
    kinds = [each.kind for each in dynamo_core.open(tmp_path / "cured").findings]
    assert "error with compiled code" not in kinds


def test_other_names_that_are_missing_are_none(run: Callable[..., Result], tmp_path: Path) -> None:
    text = SAVED.format("model", "torch.nn.Bilinear(4, 4, 4)")
    (tmp_path / "program.py").write_text(text)
    assert run("run", "-q", "-o", "other", "program.py").exit_code == 1
    kinds = [each.kind for each in dynamo_core.open(tmp_path / "other").findings]
    assert "error with compiled code" not in kinds

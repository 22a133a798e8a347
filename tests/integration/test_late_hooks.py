"""Hooks on a module that is compiled already: torch leaves them out, and the first finding says so.

The program is made after https://github.com/pytorch/pytorch/issues/117758.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import dynamo_core
from support.answering import Result

PROBED = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
model = torch.compile(net, backend="eager")
batches = torch.arange(12.0).reshape(3, 1, 4)
means = []
def keep(layer, args, out):
    means.append(out.mean())
def probe(called):
    handles = [net[each].register_forward_hook(keep) for each in (0, 2)]
    for batch in batches:
        called(batch)
    for handle in handles:
        handle.remove()
model(batches[0])
probe(model)
model(batches[1])
print(len(means))
"""
GUARD = "torch._dynamo.config.skip_nnmodule_hook_guards=False"
FIRST = "model(batches[0])\nprobe(model)"


def test_it_is_the_first_finding_with_how_often(run: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROBED)
    result = run("run", "-q", "-o", "broken", "program.py")
    assert result.stdout == "0\n"
    first = dynamo_core.open(tmp_path / "broken").findings[0]
    assert first.kind == "hook not called"
    assert "2 forward hooks put on Linear" in first.title
    assert "left out 6 times" in first.title  # 2 hooks, 3 calls
    assert first.place is not None and first.place.line == 10
    assert first.evidence.graphs == (1,)


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (("probe(model)", "probe(net)"), ()),
        ((FIRST, "probe(model)"), ()),
        (("probe(model)", "torch.compiler.reset(); probe(model)"), ()),
        (("", ""), ("--config", GUARD)),
    ],
)
def test_a_hook_that_is_called_is_none(
    run: Callable[..., Result], tmp_path: Path, change: tuple[str, str], options: tuple[str, ...]
) -> None:
    (tmp_path / "program.py").write_text(PROBED.replace(*change))
    result = run("run", "-q", *options, "-o", "cured", "program.py")
    assert result.stdout == "6\n"
    assert "hook not called" not in [each.kind for each in dynamo_core.open(tmp_path / "cured").findings]


def test_what_torch_says_of_a_hook_in_compiled_code_is_its_own(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    """Dynamo traces what makes a handle; nothing of ours is in its way there."""
    inside = "def inside(x):\n    net[0].register_forward_hook(keep)\n    return net(x)\n"
    called = f"{inside}torch.compile(inside, backend='eager')(batches[0])\n"
    (tmp_path / "program.py").write_text(PROBED.replace("probe(model)\n", f"probe(model)\n{called}"))
    assert run("run", "-q", "-o", "recording", "program.py").exit_code == 0
    reasons = [each.reason for each in dynamo_core.open(tmp_path / "recording").recording.processes[0].breaks]
    assert reasons
    assert not [reason for reason in reasons if "dynamo_core" in reason]

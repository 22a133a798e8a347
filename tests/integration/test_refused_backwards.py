"""A backward that torch refuses to run on compiled code, and what the first action says to that.

The first program is made after https://github.com/pytorch/pytorch/issues/91469.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import dynamo_core
from support.answering import Result

GRADIENT_PENALTY = """
import torch
critic = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Softplus(), torch.nn.Linear(16, 1))
compiled = torch.compile(critic, backend="aot_eager")
samples = torch.ones(8, 4, requires_grad=True)
(slope,) = torch.autograd.grad(compiled(samples).sum(), samples, create_graph=True)
slope.norm().backward()
"""
GRAPH_KEPT_LATER = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.LeakyReLU(0.2), torch.nn.Linear(16, 4))
compiled = torch.compile(net, backend="aot_eager")
for keeps in (False, True):
    loss = compiled(torch.ones(8, 6)).mean()
    loss.backward(retain_graph=keeps)
"""
TWO_HEADS = """
import torch
first, second = torch.nn.Linear(4, 1), torch.nn.Linear(4, 3)
heads = torch.compile(lambda x: (first(x).sum(), second(x).logsumexp(1).mean()), backend="aot_eager")
actor, value = heads(torch.ones(2, 4))
actor.backward()
value.backward()
print(first.weight.grad, second.weight.grad)
"""
ONE_BACKWARD = "torch.autograd.backward([actor, value])"
DONATED = "torch._functorch.config.donated_buffer=False"


@pytest.mark.parametrize(
    ("text", "advice", "cure"),
    [
        (GRADIENT_PENALTY, "call the module itself", ("compiled(samples)", "critic(samples)")),
        (GRAPH_KEPT_LATER, "donated_buffer = False", None),
        (TWO_HEADS, "call one backward", ("actor.backward()\nvalue.backward()", ONE_BACKWARD)),
        (TWO_HEADS, "retain_graph=True", ("actor.backward()", "actor.backward(retain_graph=True)")),
    ],
)
def test_it_is_the_first_action_and_its_advice_cures(
    run: Callable[..., Result], tmp_path: Path, text: str, advice: str, cure: tuple[str, str] | None
) -> None:
    program = tmp_path / "program.py"
    program.write_text(text)
    assert run("run", "-q", "-o", "broken", "program.py").exit_code == 1
    case = dynamo_core.open(tmp_path / "broken")
    first = case.findings[0]
    assert first.kind == "error with compiled code"
    assert first.place is not None
    assert first.place.line == 7
    assert advice in first.remedies[0].text
    options = () if cure else ("--config", DONATED)
    program.write_text(text.replace(*cure) if cure else text)
    assert run("run", "-q", *options, "-o", "cured", "program.py").exit_code == 0

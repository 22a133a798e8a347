"""`dynamo run --verify` of programs that compile nothing themselves: each call of a captured frame counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from launching import Runner

BACKEND_WITH_WRONG_GRADIENTS = """
import torch

class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 1.5

def wrong(gm, inputs):
    return lambda *args: [Wrong.apply(each) if each.requires_grad else each for each in gm.forward(*args)]
"""
TRAINING = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def loss_of(x, y):
    return torch.nn.functional.mse_loss(net(x), y)

def gradients_of(x, y):
    loss_of(x, y).backward()

for _ in range(2):
    for _ in range(2):
        CALL
    optimizer.step()
    optimizer.zero_grad()
print(net[0].bias.tolist())
"""
X_AND_Y = "torch.randn(8, 4), torch.randn(8, 2)"
IN_THE_CALLER = TRAINING.replace("CALL", f"loss_of({X_AND_Y}).backward()")
IN_THE_CALL = TRAINING.replace("CALL", f"gradients_of({X_AND_Y})")
RIGHT = {
    "gradients that are added up": IN_THE_CALLER,
    "gradients that are added up in the call": IN_THE_CALL,
    "dropout, and hooks on gradients": """
import torch
torch.manual_seed(0)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.unused = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.first(x))

net = Net()
seen = []
net.first.weight.register_hook(lambda gradient: gradient * 2)
net.first.bias.register_post_accumulate_grad_hook(lambda bias: seen.append(bias.grad.sum().item()))
for _ in range(3):
    net(torch.randn(8, 4)).pow(2).mean().backward()
print(net.first.weight.grad.sum().item(), net.unused.weight.grad, seen)
""",
    "a closure that the optimizer calls": """
import torch
torch.manual_seed(0)
w = torch.nn.Parameter(torch.zeros(4))
x, y = torch.randn(16, 4), torch.randn(16)
optimizer = torch.optim.LBFGS([w], max_iter=4)

def loss_of(w, x, y):
    return ((x @ w - y) ** 2).mean()

def closure():
    optimizer.zero_grad()
    loss = loss_of(w, x, y)
    loss.backward()
    return loss

for _ in range(2):
    loss = optimizer.step(closure)
print(loss.item())
""",
}


def calls_in(read: Runner) -> list[dict[str, Any]]:
    document = json.loads(read("explain", "--format", "json", "recording").stdout)
    calls: list[dict[str, Any]] = document["verified"]["program_calls"]
    return calls


@pytest.mark.parametrize("name", RIGHT)
def test_training_agrees(name: str, forked: Runner, read: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(RIGHT[name])
    options = ("run", "-q", "--backend", "aot_eager", "-o", "recording")
    plain = forked(*options, program)
    result = forked(*options, "-f", "--verify=error", program)
    assert (result.exit_code, result.stdout, result.stderr) == (0, plain.stdout, plain.stderr)
    calls = calls_in(read)
    assert {call["outcome"] for call in calls} == {"agrees"}
    are_compared = name == "gradients that are added up in the call"  # as part of the state after it
    assert {call["gradients"] for call in calls} == ({None} if are_compared else {"compared"})


@pytest.mark.parametrize("program_text", [IN_THE_CALLER, IN_THE_CALL])
def test_gradients_of_a_wrong_backend_are_found(
    program_text: str, forked: Runner, read: Runner, tmp_path: Path
) -> None:
    program, backend = tmp_path / "program.py", tmp_path / "backend.py"
    program.write_text(program_text)
    backend.write_text(BACKEND_WITH_WRONG_GRADIENTS)
    options = ("run", "-q", "--verify=error", "-o", "recording")
    result = forked(*options, "--backend", f"{backend}:wrong", program)
    assert result.exit_code == 117
    (wrong,) = (call for call in calls_in(read) if call["outcome"] == "disagrees")
    assert (wrong["kind"], wrong["path"]) == ("gradient", "gradient of global net.0.weight")


def test_an_entry_that_is_used_again_with_other_values_is_found(
    forked: Runner, read: Runner, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "class Model:\n"
        "    def scaled(self, x):\n"
        "        return x * 2\n"
        "model = Model()\n"
        "def step(x):\n"
        "    return model.scaled(x)\n"
        "for number in range(4):\n"
        "    if number == 2:\n"
        "        Model.scaled = lambda self, x: x * 9\n"
        "    print(step(torch.ones(2)))\n"
    )
    result = forked("run", "-q", "--verify=error", "--backend", "eager", "-o", "recording", program)
    assert result.exit_code == 117
    first, second, wrong = calls_in(read)
    assert first["outcome"] == second["outcome"] == "agrees"
    assert (wrong["call"], wrong["kind"], wrong["stage"]) == (3, "value", "guards")
    assert wrong["wrong_place"]["line"] == 7


def test_what_is_compiled_in_a_captured_call_is_compared_from_then_on(
    forked: Runner, read: Runner, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layer = torch.nn.Linear(2, 2)\n"
        "    def forward(self, x):\n"
        "        return self.layer(x)\n"
        "    def load(self, state, by_option=True):\n"
        "        self.load_state_dict(state)\n"
        "        if by_option:\n"
        "            self.compile(backend='eager')\n"
        "net = Net()\n"
        "net.load(Net().state_dict())\n"
        "for _ in range(3):\n"
        "    net(torch.ones(2, 2))\n"
    )
    assert forked("run", "-q", "--verify=error", "-o", "recording", program).exit_code == 0
    outcomes = [call["outcome"] for call in calls_in(read)]
    assert outcomes[1:] == ["agrees"] * 3

"""`dynamo run --verify` of programs with several threads: compared is what no other thread can change."""

import json
from pathlib import Path
from typing import Any

import pytest

from launching import Runner
from support.torch_version import TORCH

WRONG = Path(__file__).resolve().parent / "programs" / "wrong_backends.py"
SERVER = """
import sys, torch
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, FOLDER)
import wrong_backends
torch.manual_seed(0)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16)

    def forward(self, x):
        return torch.nn.functional.gelu(self.norm(self.first(x)))

net = Net()
serve = torch.compile(net, backend=BACKEND)

def answer(number):
    with torch.no_grad():
        return tuple(serve(torch.arange(32.0).reshape(4, 8).sin() + number).shape)

with ThreadPoolExecutor(4) as pool:
    print(set(pool.map(answer, range(64))))
"""
BACKGROUND = """
import threading, torch
scale, has_ended = torch.ones(1), threading.Event()

def change():
    while not has_ended.is_set():
        scale.add_(torch.rand(1))

@torch.compile(backend="aot_eager")
def step(x):
    return torch.nn.functional.dropout(x * scale, 0.5)

thread = threading.Thread(target=change)
thread.start()
for _ in range(10):
    shape = step(torch.ones(8)).shape
has_ended.set()
thread.join()
print(shape)
"""
TRAINING = """
import threading, torch
torch.manual_seed(0)
losses = {}

def train(number):
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    torch.nn.init.constant_(net[0].weight, 0.1 * number)
    step = torch.compile(net, backend="aot_eager")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(12):
        loss = step(torch.ones(2, 4)).pow(2).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    losses[number] = loss.item() >= 0

threads = [threading.Thread(target=train, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(losses.items()))
"""
LOCK = """
import threading, torch
lock, is_held, has_ended = threading.Lock(), threading.Event(), threading.Event()

def hold():
    while not has_ended.is_set():
        with lock:
            is_held.set()
            has_ended.wait(0.3)
        is_held.clear()

@torch.compile(backend="eager")
def step(x):
    y = x + 1
    with lock:
        return y * 2

thread = threading.Thread(target=hold)
thread.start()
is_held.wait()
print(step(torch.ones(2)).tolist())
has_ended.set()
thread.join()
"""


def server(backend: str) -> str:
    return SERVER.replace("FOLDER", repr(str(WRONG.parent))).replace("BACKEND", backend)


def verified(text: str, forked: Runner, read: Runner, tmp_path: Path) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the compared calls of a program that prints what it prints in plain Python.

    On a busy machine no call may be compared, since each waits for another thread: then it is run again.
    """
    program = tmp_path / "program.py"
    program.write_text(text)
    plain = forked("run", "-q", "-o", "plain", program)
    for attempt in range(3):
        result = forked("run", "-q", "--verify=error", "-o", f"recording{attempt}", program)
        assert (plain.exit_code, result.stdout, result.stderr) == (0, plain.stdout, plain.stderr)
        document = json.loads(read("explain", "--format", "json", f"recording{attempt}").stdout)
        assert document["problems"] == []
        calls = document["verified"]["program_calls"]
        if any(call["outcome"] in ("agrees", "disagrees") for call in calls):
            break
    return result.exit_code, calls


@pytest.mark.parametrize("text", [server("'aot_eager'"), BACKGROUND, TRAINING])
def test_what_other_threads_change_is_no_wrong_result(
    text: str, forked: Runner, read: Runner, tmp_path: Path
) -> None:
    if text != BACKGROUND and TORCH < (2, 9):
        pytest.skip("compiling in several threads ends with RuntimeErrors of torch 2.8 itself, at random")
    exit_code, calls = verified(text, forked, read, tmp_path)
    assert exit_code == 0
    outcomes = {call["outcome"] for call in calls}
    assert "agrees" in outcomes and "disagrees" not in outcomes, calls
    reasons = {call["why"] for call in calls if call["outcome"] != "agrees"}
    assert reasons <= {"another call was being compared"}


def test_a_wrong_backend_is_found_beside_other_threads(forked: Runner, read: Runner, tmp_path: Path) -> None:
    text = server("wrong_backends.off_by_a_thousandth")
    exit_code, calls = verified(text, forked, read, tmp_path)
    assert exit_code == 117
    assert [call["outcome"] for call in calls].count("disagrees") == 1, calls
    (wrong,) = (call for call in calls if call["outcome"] == "disagrees")
    assert (wrong["kind"], wrong["path"]) == ("value", "result")


def test_a_lock_that_another_thread_holds_ends_the_comparing(
    forked: Runner, read: Runner, tmp_path: Path
) -> None:
    exit_code, calls = verified(LOCK, forked, read, tmp_path)
    (call,) = calls
    assert exit_code in (0, 115)  # the graph may have been compared
    assert call["outcome"] == "not compared"
    assert call["why"].endswith(
        "in the copy of the process, where no other thread or rank is there to be waited for"
    )

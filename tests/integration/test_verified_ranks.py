"""`dynamo run --verify` under torchrun: each rank compares its own calls, and DDP is not disturbed."""

import json
from pathlib import Path

from launching import Runner
from support.cases import nightly

TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
PROGRAM = """
import os, sys
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["RANK"])

def backend(graph, inputs):
    is_wrong = rank == 1 and "wrong" in sys.argv
    return lambda *args: [each * 2 if is_wrong else each for each in graph.forward(*args)]

dist.init_process_group("gloo")
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
model = torch.compile(DistributedDataParallel(net), backend="aot_eager")
score = torch.compile(lambda x: (x.sin(),), backend=backend)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    model(torch.full((2, 4), float(rank + step))).pow(2).sum().backward()
    optimizer.step()
    score(torch.ones(2))
print(f"{[round(each.sum().item(), 4) for each in net.parameters()]}\\n", end="")
dist.destroy_process_group()
"""


def lines_of(stdout: str) -> list[str]:
    return sorted(line for line in stdout.splitlines() if line.startswith("["))


@nightly
def test_each_rank_compares_its_own_calls(run: Runner, read: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    plain = run("run", "-q", "--capture", "none", "-o", "plain", *TORCHRUN, program)
    result = run("run", "-q", "--verify=error", "-o", "recording", *TORCHRUN, program)
    assert (result.exit_code, lines_of(result.stdout)) == (0, lines_of(plain.stdout)), result.stderr
    document = json.loads(read("explain", "--format", "json", "recording").stdout)
    calls = document["verified"]["program_calls"]
    of_score = [call for call in calls if call["name"] == "<lambda>"]
    assert {call["process"]["rank"] for call in of_score} == {0, 1}
    assert [call["outcome"] for call in of_score] == ["agrees"] * 6
    others = [(call["outcome"], call["gradients"]) for call in calls if call["name"] != "<lambda>"]
    assert others == [("agrees", "compared")] * 6


@nightly
def test_a_rank_that_is_wrong_is_found(run: Runner, read: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    result = run("run", "-q", "--verify=error", "-o", "recording", *TORCHRUN, program, "wrong")
    assert result.exit_code == 117, result.stderr
    document = json.loads(read("explain", "--format", "json", "recording").stdout)
    wrong = [call for call in document["verified"]["program_calls"] if call["outcome"] == "disagrees"]
    assert [(call["name"], call["process"]["rank"]) for call in wrong] == [("<lambda>", 1)]

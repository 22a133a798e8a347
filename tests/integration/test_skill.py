"""The commands of the skill for coding agents work as it says, on a program with a graph break."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from dynamo_cli.skill_command import skill_text
from support.answering import Result

PROGRAM = """
import torch

@torch.compile(backend="eager")
def step(x):
    if x.sum() > 0:
        x = x * 2
    return x + 1

for _ in range(5):
    print(step(torch.ones(4)).sum().item())
"""
# Each is what a long command of its own tests: here, that the program runs under it.
_SHORTER = {
    "torchrun": f"{sys.executable} -m torch.distributed.run",
    "eager,inductor": "eager,aot_eager --repeat 1",
    "NAME": "step",
}


def test_the_commands_of_the_skill_work_in_the_order_that_it_gives(
    forked: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    blocks = re.findall(r"^ *```sh\n(.*?)```", skill_text(), re.MULTILINE | re.DOTALL)
    in_blocks = [line.strip() for block in blocks for line in block.strip().splitlines()]
    in_table = re.findall(r"^\|[^|]+\| `(dynamo-cli [^`]+)`", skill_text(), re.MULTILINE)
    assert len(in_blocks) == 5 and len(in_table) == 11
    said: dict[str, str] = {}
    for command in (*in_blocks, *in_table):
        typed = command
        for long, short in _SHORTER.items():
            typed = typed.replace(long, short)
        # What the shell does with stderr is not the command's.
        result = forked(*shlex.split(re.sub(r" 2>\S+", "", typed))[1:])
        # Of a program that is right there is nothing to reproduce.
        assert result.exit_code == (105 if " repro " in typed else 0), (typed, result.stderr)
        said[command] = result.stdout
    first, again = said[in_blocks[0]], said[in_blocks[1]]
    assert "Do first" in first and "train.py:6" in first
    assert "none gone, none new, 1 still there" in again
    assert "torch.where" in said["dynamo-cli breaks"]
    assert (tmp_path / "dynamo.lock").exists() and (tmp_path / "issue.zip").exists()

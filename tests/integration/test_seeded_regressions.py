"""Regressions put into a program: each is found at its line, and nothing besides.

The five functions of programs/five_functions.py are compiled each for itself, so that one changed program
has a regression in each. What has to be found is written as `items` has it: `+ torch.sin @ TEXT` is an op
that came at the line TEXT.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython
from recordings import PROGRAMS
from support.answering import answer
from support.cases import one_in
from support.torch_version import TORCH

PROGRAM = (PROGRAMS / "five_functions.py").read_text(encoding="utf-8")


class Seed:
    """A change of the program, and the items of `dynamo diff` that it has to make: those and no others."""

    def __init__(self, name: str, old: str, new: str, *found: str) -> None:
        self.name, self.old, self.new, self.found = name, old, new, found


MEAN = "    mean = x.mean(-1, keepdim=True)\n"
TOTAL = "    total = x.sum(0)\n"
SCORES = "    scores = scores / 8\n"
SHARES = "    shares = torch.softmax(scores, -1)\n"
CLAMP = "    y = x.clamp(min=low)\n"
RELU = "    return y.relu()\n"
SCALE = "        y = y * self.scale\n"
NORMALIZE = "    normalize(x)\n"
TRAIN = "        block(x).square().mean().backward()\n"
CLIPPED = """    try:
        print('clipped')
    finally:
        y = y.relu()
    return y
"""
RANKS = "        for rank in range(4):\n            pool(torch.randn(*[2] * rank, size))\n"

ROUNDS: Mapping[str, tuple[Seed, ...]] = {
    "ops": (
        Seed("a break", MEAN, f"{MEAN}    print('mean')\n", "came graph break @ print('mean')"),
        Seed("ops fewer", " + total.cos()", "", "graph changed pooled: - Tensor.cos, - operator.add"),
        Seed(
            "another op",
            SHARES,
            "    shares = torch.sigmoid(scores)\n",
            "graph changed attended: + torch.sigmoid @ shares = torch.sigmoid(scores), - torch.softmax",
        ),
        Seed(
            "more saved for the backward",
            SCALE,
            "        y = y * self.scale * y.exp()\n",
            "graph changed Block.forward: + Tensor.exp @ y = y * self.scale * y.exp(), "
            "+ operator.mul @ y = y * self.scale * y.exp(), saved",
        ),
        Seed(
            "a guard",
            RELU,
            "    return y.relu() if LIMIT > 1 else y\n",
            "guard clipped: + CONSTANT_MATCH G['LIMIT'] @ return y.relu() if LIMIT > 1 else y",
        ),
    ),
    "values": (
        Seed(
            "another dtype",
            NORMALIZE,
            "    normalize(x.double())\n",
            "graph changed normalized: dtype float32 → float64",
        ),
        Seed(
            "dynamic to static",
            "dynamic=True",
            "dynamic=False",
            "came recompile @ total = x.sum(0)",
            "graph changed pooled: - input, shape [s27] → [8]",
        ),
        Seed(
            "a constant",
            SCORES,
            "    scores = scores / 9\n",
            "graph changed attended: (scores, 8) → (scores, 9)",
        ),
        Seed(
            "no gradients",
            SCALE,
            "        y = y.detach() * self.scale\n",
            "graph changed Block.forward: + Tensor.detach @ y = y.detach() * self.scale, "
            "requires_grad True → False, saved",
        ),
        Seed(
            "a value taken out of a tensor",
            CLAMP,
            "    y = x.clamp(min=low + x.max().item())\n",
            "came graph break @ y = x.clamp(min=low + x.max().item())",
        ),
    ),
    "frames": (
        Seed(
            "another shape",
            NORMALIZE,
            "    normalize(x[:3])\n",
            "graph changed normalized: shape [4, 8] → [3, 8]",
        ),
        Seed(
            "recompiles by rank",
            "        pool(torch.randn(size, 8))\n",
            RANKS,
            "came recompile @ total = x.sum(0)",
        ),
        Seed(
            "another backend",
            'attended, backend="aot_eager"',
            'attended, backend="eager"',
            "graph changed attended: backend aot_eager → eager",
        ),
        Seed(
            "a branch",
            SCALE,
            f"{SCALE}        y = y if y.sum() > -1e9 else x\n",
            "came graph break @ y = y if y.sum() > -1e9 else x",
        ),
        Seed("a frame that runs eager", RELU, CLIPPED, "came fell back to eager @ print('clipped')"),
    ),
    "modes": (
        Seed(
            "autocast",
            NORMALIZE,
            f"    with torch.autocast('cpu', torch.bfloat16):\n    {NORMALIZE}",
            "graph changed normalized: autocast {} → {'cpu': 'bfloat16'}",
        ),
        Seed(
            "a break at the start",
            TOTAL,
            f"    torch._dynamo.graph_break()\n{TOTAL}",
            "came graph break @ torch._dynamo.graph_break()",
        ),
        Seed(
            "another grad mode",
            "torch.no_grad()",
            "torch.enable_grad()",
            "graph changed attended: grad_enabled False → True, gradients can be asked for, "
            "requires_grad False → True",
        ),
        Seed(
            "no backward",
            TRAIN,
            "        with torch.no_grad():\n            block(x)\n",
            "graph changed Block.forward: grad_enabled True → False, no gradients can be asked for any more, "
            "requires_grad True → False",
        ),
        Seed(
            "a recompile by value",
            "        clip(x, 0.5)\n",
            "        clip(x, 0.5 + _)\n",
            "came recompile @ y = x.clamp(min=low)",
        ),
    ),
    "inputs": (
        Seed(
            "a recompile by dtype",
            NORMALIZE,
            f"{NORMALIZE}    normalize(x.double())\n",
            "came recompile @ mean = x.mean(-1, keepdim=True)",
        ),
        Seed(
            "another device",
            "torch.randn(size, 8)",
            "torch.randn(size, 8, device='meta')",
            "graph changed pooled: device cpu → meta",
        ),
        Seed(
            "ops of another dtype",
            SCORES,
            "    scores = (scores / 8).double().float()\n",
            "graph changed attended: + Tensor.double @ scores = (scores / 8).double().float(), "
            "+ Tensor.float @ scores = (scores / 8).double().float()",
        ),
        Seed(
            "an attribute",
            "self.scale = 2.0",
            "self.scale = 3.0",
            "graph changed Block.forward: (y, 2.0) → (y, 3.0)",
        ),
        Seed(
            "another backend for inference",
            'clipped, backend="eager"',
            'clipped, backend="aot_eager"',
            "graph changed clipped: backend eager → aot_eager",
        ),
    ),
}
# Lines moved, locals and functions renamed, the same elsewhere: no differences.
RENAMED = (
    ("total", "overall"),
    ("spread", "deviation"),
    ("scores", "results"),
    ("normalized", "standardized"),
    ("class Block", "# moved\n\n\nclass Block"),
    ("def pooled", "# moved\ndef pooled"),
)


WITH_LINES_OF_GUARDS = ("values", "frames", "inputs")  # of those that fail: the lines of recompiles


class Programs:
    """The recordings of the program with each change, each made when it is first asked for."""

    def __init__(self, folder: Path, python: ForkingPython) -> None:
        self._folder, self._python = folder, python

    def recorded(self, name: str, text: str) -> Path:
        """A recording of the program with this text."""
        recording = self._folder / name / "recording"
        if not recording.exists():
            recording.parent.mkdir()
            program = recording.with_name("program.py")
            program.write_text(text, encoding="utf-8")
            command = ("-m", "dynamo_cli", "run", "-q", "-o", recording, program)
            result = self._python.run(*command, cwd=recording.parent)
            assert result.exit_code == 0, result.stderr
        return recording


@pytest.fixture(scope="module")
def programs(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("seeded"), python)


@pytest.mark.parametrize("name", one_in(2, [*ROUNDS]))
def test_each_regression_is_found_at_its_line_and_nothing_besides(name: str, programs: Programs) -> None:
    if name in WITH_LINES_OF_GUARDS and TORCH < (2, 9):
        pytest.skip(
            "torch 2.8 writes no line of the guard that failed: torch/_dynamo/guards.py, install_guard"
        )
    text = with_seeds(ROUNDS[name])
    difference = compared(programs.recorded("as it is", PROGRAM), programs.recorded(name, text))
    assert sorted(items(difference, text)) == sorted(item for seed in ROUNDS[name] for item in seed.found)
    assert difference["not_compared"] == []


def test_what_is_moved_and_renamed_is_no_difference(programs: Programs) -> None:
    text = PROGRAM
    for old, new in RENAMED:
        assert old in text
        text = text.replace(old, new)
    difference = compared(programs.recorded("as it is", PROGRAM), programs.recorded("renamed", text))
    assert difference["verdict"] == "nothing differs"


def compared(before: Path, after: Path) -> dict[str, Any]:
    result = answer("diff", before, after, "--format", "json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)["difference"]
    return found


def with_seeds(seeds: tuple[Seed, ...]) -> str:
    text = PROGRAM
    for seed in seeds:
        assert text.count(seed.old) == 1, seed.name
        text = text.replace(seed.old, seed.new)
    return text


def items(difference: dict[str, Any], program: str) -> Iterator[str]:
    """Each thing that differs in a line; places as the text of the line in the program that has it."""
    lines = program.splitlines()

    def at(place: dict[str, Any] | None) -> str:
        return "" if place is None else f" @ {lines[place['line'] - 1].strip()}"

    for finding in difference["came"]:
        yield f"came {finding['kind']}{at(finding['place'])}"
    for finding in difference["went"]:
        yield f"went {finding['kind']}"
    for finding in difference["changed"]:
        yield f"met again {finding['kind']}"
    for graph in difference["graphs"]:
        if graph["because"] is not None:
            continue
        said = [
            f"{'+' if op['count'] > 0 else '-'} {op['op']}{at(op['place']) if op['count'] > 0 else ''}"
            for op in graph["ops"]
        ]
        said += [f"{each['what']} {each['before']} → {each['after']}" for each in graph["tensors"]]
        if graph["argument"] is not None:
            said.append(f"{graph['argument']['before']} → {graph['argument']['after']}")
        said += graph["settings"]
        said += ["saved"] if graph["saved"] is not None else []
        yield f"graph {graph['kind']} {graph['function']}: {', '.join(sorted(said))}"
    for guard in difference["guards"]:
        sign = "+" if guard["count"] > 0 else "-"
        yield f"guard {guard['function']}: {sign} {guard['type']} {guard['source']}{at(guard['place'])}"

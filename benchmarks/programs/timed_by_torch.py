"""Time one step of a program of `sample_scripts/suite` by torch.utils.benchmark, eager and compiled in turn.

The program is run as it is, with another `_loops` than its own, which times the step.
"""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch
from torch.utils.benchmark import Timer

ROUNDS, ROUND_S = 5, 1.0
WARM_UP = 3  # steps of the compiled model

Step = Callable[[torch.nn.Module], object]


def main() -> None:
    """Run the program whose path, and arguments, are given."""
    program = Path(sys.argv[1]).resolve()
    sys.argv = sys.argv[1:]
    loops = ModuleType("_loops")
    loops.infer = infer  # type: ignore[attr-defined]
    loops.train = train  # type: ignore[attr-defined]
    sys.modules["_loops"] = loops
    runpy.run_path(str(program), run_name="__main__")


def infer(model: torch.nn.Module, *inputs: torch.Tensor) -> None:
    """Time a call of the model."""
    model.eval()
    with torch.no_grad():
        _time(model, lambda model: model(*inputs))


def train(
    model: torch.nn.Module, loss_of: Callable[[torch.Tensor], torch.Tensor], *inputs: torch.Tensor
) -> None:
    """Time a step of training."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

    def step(model: torch.nn.Module) -> None:
        loss_of(model(*inputs)).backward()
        optimizer.step()
        optimizer.zero_grad()

    _time(model, step)


def _time(model: torch.nn.Module, step: Step) -> None:
    sides = {"eager": model, "inductor": torch.compile(model)}
    for _ in range(WARM_UP):
        for side in sides.values():
            step(side)
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, side in sides.items():
            timer = Timer(
                "step(model)", globals={"step": step, "model": side}, num_threads=torch.get_num_threads()
            )
            seconds[name].append(timer.blocked_autorange(min_run_time=ROUND_S).median)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()

"""Train a compiled model on two ranks (DDP over gloo), three steps for each line on the stdin of rank 0."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from serving import serve_wall_time
from torch.nn.parallel import DistributedDataParallel
from training import training_step

RANKS, WARM_UP, STEPS = 2, 50, 3


def main() -> None:
    """Warm up, then serve on rank 0; the other rank does as many steps."""
    if "RANK" not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            store = {"STORE": str(Path(folder) / "store")}
            other = subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, **store, "RANK": "1"})
            run(0, store["STORE"])
            other.wait()
    else:
        run(int(os.environ["RANK"]), os.environ["STORE"])


def run(rank: int, store: str) -> None:
    """One rank, to its end."""
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    step = training_step(DistributedDataParallel)
    for _ in range(WARM_UP):
        step()
    if rank == 0:
        serve_wall_time(leading(step), STEPS)
        dist.broadcast(torch.tensor(0), 0)
    else:
        follow(step)
    dist.destroy_process_group()


def leading(step: Callable[[], None]) -> Callable[[], None]:
    """A step that the other rank is told to do as well."""

    def both() -> None:
        dist.broadcast(torch.tensor(1), 0)
        step()

    return both


def follow(step: Callable[[], None]) -> None:
    """A step each time that rank 0 says so."""
    goes_on = torch.tensor(1)
    while True:
        dist.broadcast(goes_on, 0)
        if not goes_on:
            return
        step()


if __name__ == "__main__":
    main()

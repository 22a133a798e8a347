"""Two collectives in a compiled function, on every rank of a job: alike, or not, as the first argument says.

torchrun --nproc-per-node 2 ranks.py alike|other_order|other_size|other_shape_before|dies|recompiles_between
torchrun --nproc-per-node 2 ranks.py trains_slowly    # DistributedDataParallel; the last rank is slow
"""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

SCALE = 2


@torch.compile(backend="eager")
def local(x):
    return x.relu() * SCALE


@torch.compile(backend="eager", fullgraph=True)
def step(x, reduces_first):
    if reduces_first:
        total = functional.all_reduce(x * SCALE, "sum", "0")
        parts = functional.all_gather_tensor(x + 1, 0, "0")
    else:
        parts = functional.all_gather_tensor(x + 1, 0, "0")
        total = functional.all_reduce(x * SCALE, "sum", "0")
    return total.sum() + parts.sum()


def train(is_slow):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    compiled = torch.compile(model, backend="eager")
    for _ in range(4):
        if is_slow:
            time.sleep(0.2)
        compiled(torch.ones(2, 8)).sum().backward()


def main():
    how = sys.argv[1]
    dist.init_process_group("gloo")
    last = dist.get_rank() == dist.get_world_size() - 1
    if how == "trains_slowly":
        train(last)
        dist.destroy_process_group()
        return
    local(torch.ones(8))
    if how == "other_shape_before" and last:
        local(torch.ones(9))
    if how == "dies" and last:
        os._exit(3)
    size = 16 if how == "other_size" and last else 8
    step(torch.ones(size), not (how == "other_order" and last))
    if how == "recompiles_between":
        if last:
            local(torch.ones(9))
        step(torch.ones(8), True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""DistributedDataParallel with one process: an unused head, buckets as gradients, no_sync."""

import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.used, self.unused = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(6, 2)

    def forward(self, x):
        h = self.body(x).relu()
        return self.used(h), self.unused(h)


with tempfile.NamedTemporaryFile() as file:
    dist.init_process_group("gloo", init_method=f"file://{file.name}", rank=0, world_size=1)
    model = DistributedDataParallel(TwoHeads(), find_unused_parameters=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.3)
    for step in range(4):
        x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
        if step == 1:
            with model.no_sync():
                nn.functional.cross_entropy(model(x)[0], y).backward()
            continue
        loss = nn.functional.cross_entropy(model(x)[0], y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        print(step, loss.item(), total.item(), model.module.unused.weight.sum().item())
    dist.destroy_process_group()

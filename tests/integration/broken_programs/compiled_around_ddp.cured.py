"""The module is compiled before it is wrapped."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

os.environ.update(MASTER_ADDR="127.0.0.1", GLOO_SOCKET_IFNAME="lo")
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(0)
module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
model = DistributedDataParallel(torch.compile(module, backend="eager"))

for value in range(3):
    loss = model(torch.full((2, 4), float(value))).sum()
    loss.backward()
    print(loss.item())
dist.destroy_process_group()

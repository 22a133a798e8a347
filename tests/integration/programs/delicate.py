"""Prints whatever a second run of one of its graphs would change, if it were noticed.

With a backend's name as its argument it calls torch.compile itself.
"""

import gc
import random
import signal
import subprocess
import sys
import threading
import time
import weakref

import torch
from torch import nn


def own_compile(function):
    return torch.compile(function, backend=sys.argv[1]) if len(sys.argv) > 1 else function


def told(name, *values):
    print(name, *(value.item() if isinstance(value, torch.Tensor) else value for value in values))


def in_place(x, part):
    x.mul_(2)
    part.add_(1)
    return x.sum(), x[1:]


def fill(cache, value, at):
    cache[:, at : at + 1] = value
    return cache.sum(dim=1)


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return torch.dropout(self.norm(self.first(x)), 0.5, self.training)


def training():
    model = Dropping()
    compiled = own_compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        compiled(torch.randn(4, 8)).square().sum().backward()
        told("gradient", sum(p.grad.abs().sum() for p in model.parameters()))
        optimizer.step()
        told("drawn", torch.rand(()), random.random())
    told(
        "statistics",
        model.norm.running_mean.sum(),
        model.norm.running_var.sum(),
        model.norm.num_batches_tracked,
    )


def aliases():
    compiled = own_compile(in_place)
    base = torch.arange(6.0)
    for _ in range(3):
        total, view = compiled(base, base[2:4])
        view.add_(1)  # an output that is a view of an input
        told("aliases", total, base.sum(), base._version)
    grown = base.clone().requires_grad_() * 1
    total, _ = compiled(grown, torch.ones(2))
    total.backward()
    told("not a leaf", total, grown.requires_grad)


def caches():
    compiled = own_compile(fill)
    cache = torch.zeros(2, 4)
    for at in range(4):
        told("cache", compiled(cache, torch.full((2, 1), at + 1.0), at).sum(), cache.sum())


def kept():
    """Nothing of a call is kept when it is over."""
    compiled = own_compile(lambda x: (x * 2).relu())
    for _ in range(3):
        x = torch.randn(3)
        result = compiled(x)
        references = weakref.ref(x), weakref.ref(result)
        del x, result
        gc.collect()
        told("kept", *(reference() is not None for reference in references))


def hooks():
    compiled = own_compile(lambda x, y: (x.exp() * y).sum())
    seen = []
    x, y = torch.ones(3, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)

    def pack(tensor):
        seen.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = compiled(x, y)
    told("hooks", len(seen), x.grad is None, type(result.grad_fn).__name__.startswith("Compiled"))
    result.backward()
    told("gradients", x.grad.sum(), y.grad.sum())
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        told("modes", compiled(x, y), torch.is_grad_enabled(), torch.is_autocast_enabled("cpu"))
    with torch.inference_mode():
        told("inference", compiled(x, y), torch.is_inference_mode_enabled())


def threads():
    compiled = own_compile(lambda x: x.cos().sum())
    results = [None] * 4

    def work(i):
        results[i] = compiled(torch.full((i + 2,), float(i))).item()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
        worker.join()
    told("threads", *results)
    if len(sys.argv) == 1:  # Inductor's own threads depend on what its cache has
        told("living", threading.active_count())


def children():
    compiled = own_compile(lambda x: x.cos().sum())
    ended = []
    signal.signal(signal.SIGCHLD, lambda *_: ended.append(1))
    for i in range(3):
        compiled(torch.ones(i + 2))
    own = subprocess.Popen(["true"])
    while not ended:
        time.sleep(0.01)
    told("children", len(ended), own.wait())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(2):
        compiled(torch.ones(7))


torch.manual_seed(0)
random.seed(0)
for part in (training, aliases, caches, kept, hooks, threads, children):
    part()
sys.exit(3)

"""Runs so many steps of a small compiled program; prints milliseconds a step, compiling included.

verified_steps.py mlp|transformer|generate STEPS
"""

import sys
import time

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


def mlp():
    """Inference with three layers."""
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8))
    call = torch.compile(net.eval())

    @torch.no_grad()
    def step():
        call(torch.randn(32, 64))

    return step


def transformer():
    """A training step of two encoder layers."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    call = torch.compile(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        call(torch.randn(4, 32, 64)).pow(2).mean().backward()
        optimizer.step()

    return step


def generate():
    """A loop that adds a token at a time, to a sequence of another length each time."""
    table, head = nn.Embedding(100, 64), nn.Linear(64, 100)

    @torch.compile(dynamic=True)
    def next_token(tokens):
        return head(table(tokens).cumsum(1)[:, -1]).argmax(-1, keepdim=True)

    @torch.no_grad()
    def step():
        tokens = torch.zeros(2, 2, dtype=torch.long)
        for _ in range(16):
            tokens = torch.cat([tokens, next_token(tokens)], 1)

    return step


step, steps = {"mlp": mlp, "transformer": transformer, "generate": generate}[sys.argv[1]](), int(sys.argv[2])
began = time.perf_counter()
for _ in range(steps):
    step()
print((time.perf_counter() - began) * 1e3 / steps)

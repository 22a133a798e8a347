"""A recurrent cell over 40 steps, unrolled, and an embedding that meets a second dtype. By Inductor.

The loop is one graph of 160 operations; the embedding is one of three, compiled once more.
"""
# first: loop
# cure loop: state = rnn(xs) => state = stepped(xs)
# cure dtype: torch.float64 => torch.float32

import torch


def cell(state, x):
    return torch.tanh(state * 0.9 + x.mean()) + x.sin()  # cause: loop


def rnn(xs):
    state = torch.zeros(16)
    for t in range(40):  # cause: loop
        state = cell(state, xs[t])  # cause: loop
    return state


def embed(x):
    return torch.relu(x * 2) + 1  # cause: dtype


one = torch.compile(cell)


def stepped(xs):
    state = torch.zeros(16)
    for t in range(40):
        state = one(state, xs[t])
    return state


embedded = torch.compile(embed)
rnn = torch.compile(rnn)
with torch.no_grad():
    for dtype in (torch.float32, torch.float64):
        embedded(torch.ones(8, 16, dtype=dtype))
    xs = torch.ones(40, 16)
    state = rnn(xs)
print(state.shape)

"""A token loop with four causes: ids as text, a break in each step, a clock, and a second dtype.

Texts reach the limit with a function of 40 operations; the break is met 1,500 times; the clock and the
dtype are met in small functions.
"""
# first: token
# cure token: pick(x, f"t{step}") => pick(x, "t1")
# cure probability: p - 1 if p.item() > 2 else p => torch.where(p > 2, p - 1, p)
# cure clock: time.time() => 0.0
# cure dtype: torch.float64 => torch.float32

import time

import torch


@torch.compile(backend="aot_eager")
def pick(x, token):
    for _ in range(20):
        x = torch.sigmoid(x) * (1 if token.endswith("9") else 2)  # cause: token
    return x


@torch.compile(backend="aot_eager")
def decide(p):
    p = p * 0.5
    p = p - 1 if p.item() > 2 else p  # cause: probability
    return p + 1


@torch.compile(backend="aot_eager")
def stamped(x):
    return x.sin() + time.time() * 0  # cause: clock


@torch.compile(backend="aot_eager")
def cast(x):
    return x.cos()  # cause: dtype


x, p = torch.ones(8, 8), torch.ones(())
for step in range(1500):
    if step < 40:
        pick(x, f"t{step}")
    p = decide(p)
for _ in range(20):
    stamped(x)
for dtype in (torch.float32, torch.float64):
    cast(x.to(dtype))
print("done")

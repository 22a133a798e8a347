"""A server that scores requests by their number of parts, and logs a slow one.

Each number of parts is a graph of its own, until torch's limit; of the log, one break in
one request of 50; whether one is long compiles a function of two operations once more.
"""
# first: parts
# cure parts: score(x, parts) + => score_outside(x, parts) +
# cure long: check(x, request % 50 == 49) => check(x, False)
# cure log: logging.getLogger("server").info("a long request") => x = x + 0

import logging

import torch


def mixed(x, part):
    for _ in range(4):
        x = torch.tanh(x + part) * torch.sigmoid(x)
    return x


def score(x, parts):
    for part in range(parts):  # cause: parts
        x = mixed(x, part)
    return x.sum()


def check(x, is_long):
    x = torch.relu(x)
    if is_long:  # cause: long
        logging.getLogger("server").info("a long request")  # cause: log
    return x.mean()


mixed_alone = torch.compile(mixed, backend="aot_eager")


def score_outside(x, parts):
    for part in range(parts):
        x = mixed_alone(x, part)
    return x.sum()


score = torch.compile(score, backend="aot_eager")
check = torch.compile(check, backend="aot_eager")
total = torch.zeros(())
for request in range(200):
    x = torch.ones(8, 32)
    parts = request % 12 + 1
    total += score(x, parts) + check(x, request % 50 == 49)
print("done", total.isfinite().item())

"""What is put first in an OrderedDict that a function is given stays where it was.

An idea of our own.
kind: mutation
stage: tracing
"""

from collections import OrderedDict

import torch


def put_first(requests, urgent):
    for name in urgent:
        requests.move_to_end(name, last=False)  # cause


class Queue(torch.nn.Module):
    def forward(self, x, requests):
        x = torch.relu(x)
        put_first(requests, ["late", "later"])
        return x * requests["late"]


requests = OrderedDict(first=1.0, late=2.0, later=3.0)
print(torch.compile(Queue(), backend="eager")(torch.ones(2), requests))
print([*requests])

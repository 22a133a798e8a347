"""A network is copied deeply for each task, by functions of Python's own that are compiled by themselves.

kind: graph break
advice: make the copy before the call

Made after https://github.com/pytorch/pytorch/issues/115122
"""

import copy

import torch


class Adapted(torch.nn.Module):
    def forward(self, learner, support, query):
        mean = learner(support).mean(0)
        return learner(query) - mean


torch.manual_seed(0)
learner = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
model = torch.compile(Adapted(), backend="eager")
with torch.no_grad():
    for _ in range(4):
        print(round(model(copy.deepcopy(learner), torch.randn(5, 3), torch.randn(4, 3)).sum().item(), 4))

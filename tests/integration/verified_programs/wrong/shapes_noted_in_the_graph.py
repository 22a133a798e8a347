"""A function that is put into the graph as it is notes shapes in a list: while tracing it does so once more.

An idea of our own, after PyTorch's page on torch.compiler.allow_in_graph.
kind: mutation
stage: tracing
"""

import torch


class Journal:
    def __init__(self):
        self.entries = []

    def note(self, what):
        entries = self.entries
        entries.append(what)  # cause


class Layer(torch.nn.Module):
    def __init__(self, journal):
        super().__init__()
        self.journal = journal
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        x = self.linear(x)
        x = noted(x)
        return torch.relu(x)


journal = Journal()


def noted(x):
    y = x - x.mean()
    journal.note(y.dim())
    return y * 2.0


torch.compiler.allow_in_graph(noted)
torch.manual_seed(0)
layer = torch.compile(Layer(journal), backend="eager")
layer(torch.ones(2, 3))
print(journal.entries)

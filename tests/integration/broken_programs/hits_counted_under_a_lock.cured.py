"""A table that counts its hits, and looks up under a lock.

kind: fell back to eager
advice: move there what counts in it
"""

import threading

import torch


class Table(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.nn.Embedding(20, 8)
        self.guard = threading.RLock()
        self.hits = 0

    def forward(self, ids):
        found = self.rows(ids)
        return torch.relu(found.mean(1))


torch.manual_seed(0)
table = Table()
compiled = torch.compile(table, backend="eager")
with torch.no_grad():
    for _ in range(4):
        with table.guard:
            table.hits += 1
            found = compiled(torch.randint(0, 20, (3, 4)))
        print(round(found.sum().item(), 4))
print(table.hits)

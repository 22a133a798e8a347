"""A module keeps what it gave last, and what it gave before that, of which there is nothing at first.

kind: recompile
advice: a tensor of its size

Made after a pattern common in diffusers (solvers that keep the last outputs).
"""

import torch


class Solver(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.outputs = [None, None]

    def keep(self, output):
        self.outputs[0] = self.outputs[1]
        self.outputs[1] = output
        return output

    def forward(self, x):
        return self.keep(x * 2)  # cause


solver = Solver()
compiled = torch.compile(solver, backend="eager")
for _ in range(3):
    print(compiled(torch.ones(3)).tolist())
print(solver.outputs[0].tolist())

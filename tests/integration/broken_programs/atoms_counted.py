"""The atoms of each molecule are counted in the model.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS

Made after https://github.com/isayevlab/aimnetcentral/pull/109
"""

import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Embedding(10, width)
        self.out = nn.Linear(width, 1)

    def forward(self, numbers, molecule, molecules):
        atoms = self.out(torch.tanh(self.embed(numbers)))[:, 0]
        total = torch.zeros(molecules).index_add(0, molecule, atoms)
        counts = torch.bincount(molecule, minlength=molecules)  # cause
        return total / counts


torch.manual_seed(0)
model = torch.compile(Energy(), backend="eager")
with torch.no_grad():
    for molecule in ([0, 0, 1, 1, 1, 2], [0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 1, 2]):
        energies = model(torch.arange(6), torch.tensor(molecule), 3)
        print([round(each, 4) for each in energies.tolist()])

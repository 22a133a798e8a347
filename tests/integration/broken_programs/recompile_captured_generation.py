"""Text that grows token by token, in a program that never calls torch.compile.

kind: recompile
advice: --dynamic
options: --backend eager
"""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 16)
        self.head = torch.nn.Linear(16, 50)

    def forward(self, tokens):
        return self.head(self.embedding(tokens).mean(1))  # cause


torch.manual_seed(0)
model, tokens = Model(), torch.zeros(1, 2, dtype=torch.long)
for _ in range(6):
    with torch.no_grad():
        tokens = torch.cat((tokens, model(tokens).argmax(-1, keepdim=True)), 1)
print(tokens[0].tolist())

"""Whether the scores have grown large is printed on the way.

kind: graph break
advice: out of the compiled code
"""

import torch


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 2)

    def forward(self, rows):
        scores = self.head(rows.tanh())
        print("large", float(scores.sum()) > 1e9)  # cause
        return scores.softmax(-1)


torch.manual_seed(0)
scorer = torch.compile(Scorer(), backend="eager")
with torch.no_grad():
    for _ in range(3):
        scorer(torch.randn(3, 4))

"""What torch.compile returns is asked for another method than `forward`.

kind: never called
advice: in place

Made after https://github.com/pytorch/pytorch/issues/141473
"""

import torch


class Writer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(16, 8)
        self.head = torch.nn.Linear(8, 16)

    def forward(self, ids):
        return self.head(self.embed(ids).mean(0))

    def generate(self, ids, tokens):
        for _ in range(tokens):
            scores = self(ids)
            ids = torch.cat((ids[1:], scores.argmax().view(1)))
        return ids


torch.manual_seed(0)
model = Writer().eval()
model = torch.compile(model, backend="eager")  # cause
with torch.no_grad():
    for start in range(3):
        print(model.generate(torch.arange(4) + start, 5).tolist())

"""An LSTM in a model.

kind: fell back to eager
advice: allow_rnn
"""

import torch


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.LSTM(3, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        x = x.relu()
        y, _ = self.inner(x)  # cause
        return self.head(y)


torch.manual_seed(0)
model = torch.compile(Tagger(), backend="aot_eager")
with torch.no_grad():
    print(model(torch.ones(1, 2, 3)).sum().item())

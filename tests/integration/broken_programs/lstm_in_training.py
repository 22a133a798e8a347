"""An LSTM in a model that is trained.

kind: fell back to eager
advice: leave the LSTM between them to eager
"""

import torch

torch.manual_seed(0)


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.LSTM(3, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        y, _ = self.inner(x.relu())  # cause
        return self.head(y)


tagger = Tagger()
model = torch.compile(tagger, backend="aot_eager")
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(torch.ones(1, 2, 3)).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())

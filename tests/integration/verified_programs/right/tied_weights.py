"""An embedding and the last layer have the same weights, which are trained."""

import torch

torch.manual_seed(0)


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(7, 4)
        self.hidden = torch.nn.Linear(4, 4)
        self.last = torch.nn.Linear(4, 7, bias=False)
        self.last.weight = self.embedding.weight

    def forward(self, tokens):
        return self.last(torch.tanh(self.hidden(self.embedding(tokens))))


model = Tied()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
compiled = torch.compile(model, backend="aot_eager")
tokens = torch.arange(7)
for _ in range(4):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(compiled(tokens), tokens.roll(1))
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(f"{loss.item():.4f} {norm.item():.3f}")

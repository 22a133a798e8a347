"""GRU and LSTM: a language model trained with truncated backpropagation, the state is detached and kept."""

import torch
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(7, 5), kind(5, 6, num_layers=2, dropout=0.2)
        self.out = nn.Linear(6, 7)

    def forward(self, tokens, state):
        hidden, state = self.rnn(self.embed(tokens), state)
        return self.out(hidden), state


def detach(state):
    return state.detach() if torch.is_tensor(state) else tuple(s.detach() for s in state)


data = torch.randint(0, 7, (12, 2))
for kind in (nn.GRU, nn.LSTM):
    model, state = Model(kind), None
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for start in range(0, 9, 3):
        logits, state = model(data[start : start + 3], None if state is None else detach(state))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), data[start + 1 : start + 4].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(kind.__name__, start, loss.item())

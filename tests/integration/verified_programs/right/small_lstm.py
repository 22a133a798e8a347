"""An LSTM, around which the graph breaks."""

import torch

torch.manual_seed(0)
lstm = torch.nn.LSTM(4, 6, batch_first=True)
head = torch.nn.Linear(6, 1)


@torch.compile
def forward(x, state):
    out, state = lstm(x, state)
    return head(out).squeeze(-1), state


state = (torch.zeros(1, 2, 6), torch.zeros(1, 2, 6))
for _ in range(2):
    out, state = forward(torch.ones(2, 3, 4), tuple(each.detach() for each in state))
    out.sum().backward()
    print(f"{out.sum().item():.3f}")

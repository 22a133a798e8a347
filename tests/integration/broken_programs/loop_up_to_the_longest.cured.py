import torch


class Encoder(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.cell = torch.nn.Linear(2 * width, width)

    def forward(self, words, lengths):
        state = torch.zeros(words.shape[0], words.shape[2])
        for position in range(words.shape[1]):
            new = torch.tanh(self.cell(torch.cat([words[:, position], state], 1)))
            state = torch.where((position < lengths)[:, None], new, state)
        return state


torch.manual_seed(0)
encoder = torch.compile(Encoder(), backend="eager")
with torch.no_grad():
    for lengths in ([3, 1], [2, 2], [1, 4]):
        print(round(encoder(torch.ones(2, 5, 4), torch.tensor(lengths)).sum().item(), 4))

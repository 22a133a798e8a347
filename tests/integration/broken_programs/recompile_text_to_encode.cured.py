import torch

CODES = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz ")}


class Length(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(len(CODES), 4)

    def forward(self, ids):
        return self.embed(ids).mean(0)


def encoded(text):
    ids = [CODES[c] for c in text.lower() if c in CODES]
    return torch.tensor(ids[:12] + [0] * (12 - len(ids)))


torch.manual_seed(0)
model = torch.compile(Length(), backend="eager")
for number in range(10):
    print(f"{model(encoded('line number ' + 'abcdefghij'[number])).sum().item():.4f}")

"""torchmetrics: accuracy and F1 over ten batches, beside an LSTM classifier."""

import torch
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score

torch.manual_seed(0)


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = (
            torch.nn.Embedding(50, 16),
            torch.nn.LSTM(16, 32, batch_first=True),
            torch.nn.Linear(32, 5),
        )

    def forward(self, tokens):
        return self.out(self.lstm(self.embed(tokens))[0])


model, accuracy, f1 = Tagger(), MulticlassAccuracy(5), MulticlassF1Score(5)
with torch.no_grad():
    for length in (7, 9, 11, 7, 9, 13, 15, 7, 8, 20):
        tokens, labels = torch.randint(0, 50, (4, length)), torch.randint(0, 5, (4, length))
        prediction = model(tokens).argmax(-1).flatten()
        accuracy.update(prediction, labels.flatten())
        f1.update(prediction, labels.flatten())
print(f"{accuracy.compute().item():.4f} {f1.compute().item():.4f}")

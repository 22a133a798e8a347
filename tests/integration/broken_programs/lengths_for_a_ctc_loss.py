"""A speech recogniser whose loss is told the lengths of recordings and transcripts.

kind: graph break
advice: end the compiled function

Made after https://github.com/pytorch/pytorch/issues/183396
"""

import torch
from torch import nn


class Recogniser(nn.Module):
    def __init__(self, bins=12, hidden=16, letters=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(bins, hidden, 3, padding=1),
            nn.GELU(),
            nn.Conv1d(hidden, hidden, 3, padding=1),
            nn.GELU(),
        )
        self.head = nn.Linear(hidden, letters)
        self.loss = nn.CTCLoss(blank=0, zero_infinity=True)

    def forward(self, spectrograms):
        hidden = self.encoder(spectrograms).transpose(1, 2)
        return self.head(hidden).log_softmax(-1)

    def training_step(self, batch):
        spectrograms, targets, frames, letters = batch
        log_probs = self(spectrograms)
        return self.loss(log_probs.transpose(0, 1), targets, frames, letters)  # cause


def batches(count):
    for seed in range(count):
        generator = torch.Generator().manual_seed(seed)
        spectrograms = torch.randn(3, 12, 20, generator=generator)
        targets = torch.randint(1, 6, (3, 5), generator=generator)
        frames = torch.randint(12, 21, (3,), generator=generator)
        letters = torch.randint(2, 6, (3,), generator=generator)
        yield spectrograms, targets, frames, letters


torch.manual_seed(0)
model = Recogniser()
step = torch.compile(model.training_step, backend="aot_eager")
for batch in batches(4):
    loss = step(batch)
    loss.backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 0.01 * weight.grad
            weight.grad = None
    print(round(loss.item(), 3))

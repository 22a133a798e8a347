"""Training on batches that forked DataLoader workers prepare, with its own collate function."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ramps(Dataset):
    """Sequences of different lengths that rise (class 1) or fall (class 0)."""

    def __len__(self):
        return 48

    def __getitem__(self, index):
        label = index % 2
        ramp = torch.linspace(-1, 1, steps=4 + index % 5)
        return ramp if label else -ramp, label


def pad_and_stack(samples):
    ramps, labels = zip(*samples, strict=True)
    width = 8
    padded = [F.pad(ramp, (0, width - ramp.numel())) for ramp in ramps]
    return torch.stack(padded), torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def main():
    torch.manual_seed(0)
    loader = DataLoader(
        Ramps(),
        batch_size=8,
        num_workers=2,
        collate_fn=pad_and_stack,
        multiprocessing_context="fork",
    )
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(2):
        total = 0.0
        for x, labels in loader:
            loss = F.cross_entropy(model(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}  mean loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()

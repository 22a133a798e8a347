"""A DataLoader with workers, a transform with random numbers, a collate function and a sampler."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

torch.manual_seed(0)


class Noisy(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return self.augment(torch.full((3,), float(index))), index % 2

    def augment(self, x):
        return x + 0.1 * torch.randn(3)


def collate(items):
    xs, ys = zip(*items, strict=True)
    return torch.stack(xs) / 10, torch.tensor(ys)


model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sampler = WeightedRandomSampler([1.0 + i % 3 for i in range(12)], 12)
for workers in (0, 2):
    for x, y in DataLoader(Noisy(), 4, sampler=sampler, num_workers=workers, collate_fn=collate):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(workers, x[:, 0].tolist(), y.tolist(), loss.item())

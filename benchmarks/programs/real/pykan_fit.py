"""pykan: fit a small function."""

import torch
from kan import KAN, create_dataset

torch.manual_seed(0)
model = KAN(width=[2, 3, 1], grid=3, k=3, seed=42, auto_save=False)
dataset = create_dataset(
    lambda x: torch.exp(torch.sin(torch.pi * x[:, [0]]) + x[:, [1]] ** 2),
    n_var=2,
    train_num=100,
    test_num=100,
)
results = model.fit(dataset, opt="Adam", steps=6, lamb=0.001, log=10)
print([f"{float(loss):.2f}" for loss in results["train_loss"]])

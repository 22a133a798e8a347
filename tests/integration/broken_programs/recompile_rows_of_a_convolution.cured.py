import torch

torch.manual_seed(0)
conv = torch.nn.Conv1d(1, 4, kernel_size=3)


@torch.compile(backend="eager")
def features(windows):
    return torch.relu(conv(windows)).mean(-1)


for rows in (32, 32, 32):
    print(features(torch.ones(rows, 1, 16)).sum().item() / rows > 0)

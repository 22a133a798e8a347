import torch


@torch.compile(backend="eager")
def mask(lengths, longest):
    places = torch.arange(longest)
    return places[None] < lengths[:, None]


for lengths in ((1, 4), (2, 3), (5, 1)):
    print(mask(torch.tensor(lengths), max(lengths)).sum().item())

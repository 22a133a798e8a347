import torch

generator = torch.Generator()


@torch.compile(backend="eager")
def noised(x):
    y = x.sin()
    return y.cos()


for _ in range(3):
    generator.manual_seed(3)
    print(noised(torch.ones(2)).tolist(), torch.rand(1, generator=generator).item())

import torch


@torch.library.custom_op("broken::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    y = doubled(y)
    return y.cos()


try:
    print(model(torch.ones(2)).tolist())
except RuntimeError:
    print(doubled(torch.ones(2).sin()).cos().tolist())

import torch


@torch.compile(backend="eager")
def model(x):
    return x.sin()


print(model(torch.ones(2, 2)).to_sparse().to_dense().tolist())

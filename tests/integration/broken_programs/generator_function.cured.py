import torch


def parts(x):
    for piece in x.split(2):
        yield piece.sin() * 2


@torch.compile(backend="eager")
def all_parts(x):
    return list(parts(x))


print([part.tolist() for part in all_parts(torch.arange(4.0))])

import torch


class Found(Exception):
    pass


@torch.compile(backend="eager")
def search(x):
    return x.sin()


for _ in range(2):
    try:
        search(torch.ones(2))
        raise Found("at once")
    except Found as found:
        print(found)

import io

import torch

file = io.BytesIO()


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y.cos(), y


result, y = model(torch.ones(2))
torch.save(y, file)
print(result.tolist(), len(file.getvalue()) > 0)

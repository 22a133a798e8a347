"""What is returned is an object with tensors and None."""

import dataclasses

import torch


@dataclasses.dataclass
class Output:
    loss: torch.Tensor
    hidden: tuple
    attention: object = None


@torch.compile(backend="aot_eager")
def step(x, w):
    hidden = torch.tanh(x @ w)
    return Output(hidden.sum(), (hidden, [hidden[:1]]))


w = torch.eye(2, requires_grad=True)
output = step(torch.ones(2, 2), w)
output.loss.backward()
print(output.loss.item(), w.grad, output.attention)

"""What an operator of the program's gives for tracing has other strides than what it gives.

After pytorch/pytorch#130242.
kind: exception
stage: inductor
"""

import torch


@torch.library.custom_op("corpus::transposed_product", mutates_args=())
def transposed_product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (y.T @ x.T).T


@transposed_product.register_fake
def _(x, y):
    return x.new_empty(x.shape[0], y.shape[1])


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width, 3))
        self.bias = torch.nn.Parameter(torch.randn(3))

    def forward(self, x):
        x = torch.tanh(x)
        x = transposed_product(x, self.weight)  # cause
        x = x + self.bias
        return x.softmax(dim=-1)


torch.manual_seed(0)
layer = torch.compile(Layer(4).requires_grad_(False))
try:
    print(layer(torch.randn(2, 4)))
except AssertionError as error:
    print("AssertionError", len(str(error)) > 0)

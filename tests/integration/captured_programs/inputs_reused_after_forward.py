"""An input buffer is overwritten after forward: fine where eager keeps results, an error where inputs."""

import torch

torch.manual_seed(0)


def keeps_results(x, w):
    return ((x * 1).exp().tanh() + w).sum()


def keeps_inputs(x, w):
    return (x * w).sum()


def keeps_nothing(x, w):
    return (x + 2 * w).sum()


weight = torch.ones(3, requires_grad=True)
buffer = torch.zeros(3)
for function in (keeps_results, keeps_inputs, keeps_nothing):
    for trained in (False, True):
        source = torch.randn(3, requires_grad=trained)
        buffer = source * 1
        loss = function(buffer, weight)
        with torch.no_grad():
            buffer.fill_(9)
        try:
            loss.backward()
            print(function.__name__, trained, weight.grad.tolist(), source.grad)
        except RuntimeError as error:
            print(function.__name__, trained, type(error).__name__, str(error)[:70])
        weight.grad = None

"""scatter_add, index_add, index_put_ with accumulation, scatter_reduce and their gradients."""

import torch

torch.manual_seed(0)


def pool(values, groups, count):
    total = torch.zeros(count, values.shape[1]).index_add(0, groups, values)
    most = torch.full((count, values.shape[1]), -1e9).scatter_reduce(
        0, groups[:, None].expand_as(values), values, "amax"
    )
    return total, most


def histogram(index, weights):
    out = torch.zeros(5)
    out.index_put_((index,), weights, accumulate=True)
    out.scatter_add_(0, index.flip(0), weights)
    return out


def write(x, index, value):
    y = x.clone()
    y[index] = value
    y[:, 0] *= 2
    return y


values = torch.randn(6, 2, requires_grad=True)
total, most = pool(values, torch.tensor([0, 1, 1, 0, 2, 1]), 3)
(total.pow(2).sum() + most.sum()).backward()
print(total.tolist(), most.tolist(), values.grad.tolist())
print(histogram(torch.tensor([0, 0, 3, 4]), torch.tensor([1.0, 2.0, 3.0, 4.0])).tolist())
print(write(torch.ones(3, 2), torch.tensor([0, 0, 2]), 5.0).tolist())
print(write(torch.ones(3, 2), torch.tensor([True, False, True]), torch.tensor([7.0, 8.0])).tolist())

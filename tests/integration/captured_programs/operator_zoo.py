"""Many operators with gradients at once: interpolation, sampling, einsum, distances, folding, cumulation."""

import torch
import torch.nn.functional as F

torch.manual_seed(0)


def images(x):
    grid = F.affine_grid(torch.eye(2, 3).unsqueeze(0) * 0.9, [1, 2, 5, 5], align_corners=False)
    return (
        F.interpolate(x, size=(5, 7), mode="bilinear", align_corners=True),
        F.interpolate(x, scale_factor=0.5, mode="nearest"),
        F.grid_sample(x, grid, align_corners=False),
        F.unfold(x, 3).var(1),
        F.pixel_shuffle(x.repeat(1, 2, 1, 1), 2),
        F.pad(x, (1, 2, 0, 1), mode="reflect"),
        F.adaptive_avg_pool2d(x, (3, 1)),
        F.avg_pool2d(x, 2, ceil_mode=True),
        x.roll((1, -1), (2, 3)).flip(3),
    )


def vectors(x):
    y = x.flatten(1)[:, :6]
    return (
        torch.einsum("bchw,bdhw->cd", x, x),
        torch.cdist(y.view(2, 3), y.view(2, 3) + 1),
        y.cumsum(1).cumprod(1),
        torch.logcumsumexp(y, 1),
        F.cosine_similarity(y, y.roll(1)),
        F.gelu(y, approximate="tanh") + F.mish(y) + F.hardswish(y),
        torch.erf(y) + torch.special.expit(y) + torch.lgamma(y.abs() + 1),
        torch.linalg.matrix_exp(y.view(2, 3)[:, :2] * 0.1),
        torch.logdet(torch.eye(2) + 0.1 * y.view(2, 3)[:, :2] @ y.view(2, 3)[:, :2].T),
        F.normalize(y) * y.renorm(2, 0, 1.0),
    )


x = torch.randn(1, 2, 4, 4, requires_grad=True)
for function in (images, vectors):
    outs = function(x)
    for out in outs:
        x.grad = None
        out.sin().sum().backward(retain_graph=True)
        print(tuple(out.shape), out.sum().item(), x.grad.abs().sum().item())

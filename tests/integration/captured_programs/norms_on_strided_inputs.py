"""GroupNorm, LayerNorm and BatchNorm on transposed, sliced, expanded and channels_last inputs."""

import torch
from torch import nn

torch.manual_seed(0)
group, layer, batch = nn.GroupNorm(2, 4), nn.LayerNorm(6), nn.BatchNorm2d(4)
x = torch.randn(2, 4, 6, 6)
variants = {
    "plain": x,
    "transposed": x.transpose(2, 3),
    "channels_last": x.to(memory_format=torch.channels_last),
    "sliced": torch.randn(4, 8, 6, 12)[::2, 1::2, :, ::2],
    "expanded": x[:1].expand(3, 4, 6, 6),
}
for norm in (group, layer, batch):
    for name, variant in variants.items():
        leaf = variant.detach().requires_grad_()
        out = norm(leaf)
        out.pow(3).mean().backward()
        print(type(norm).__name__, name, out.stride(), out.abs().sum().item(), leaf.grad.abs().sum().item())
print(batch.running_mean.tolist())

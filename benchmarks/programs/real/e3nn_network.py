"""e3nn: an equivariant convolution over random points."""

import torch
from e3nn import o3

torch.manual_seed(0)
irreps_in, irreps_sh, irreps_out = (
    o3.Irreps("4x0e + 2x1o"),
    o3.Irreps.spherical_harmonics(2),
    o3.Irreps("4x0e + 2x1o"),
)
tensor_product = o3.FullyConnectedTensorProduct(irreps_in, irreps_sh, irreps_out)
linear = o3.Linear(irreps_out, "1x0e")
optimizer = torch.optim.Adam([*tensor_product.parameters(), *linear.parameters()], lr=0.01)
features, vectors = irreps_in.randn(20, -1), torch.randn(20, 3)
for step in range(4):
    sh = o3.spherical_harmonics(irreps_sh, vectors, normalize=True, normalization="component")
    loss = (linear(tensor_product(features, sh)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.3f}")

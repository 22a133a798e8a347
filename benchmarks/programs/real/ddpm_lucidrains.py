"""denoising-diffusion-pytorch: Unet and GaussianDiffusion, one loss and a short sampling."""

import torch
from denoising_diffusion_pytorch import GaussianDiffusion, Unet

torch.manual_seed(0)
model = Unet(dim=16, dim_mults=(1, 2), flash_attn=False)
diffusion = GaussianDiffusion(model, image_size=16, timesteps=20, sampling_timesteps=5)
for step in range(2):
    loss = diffusion(torch.rand(2, 3, 16, 16))
    loss.backward()
    print(step, f"{loss.item():.3f}")
print(diffusion.sample(batch_size=1).shape)

"""diffusers: a small UNet denoises for ten steps, then trains for two."""

import torch
from diffusers import DDPMScheduler, UNet2DModel

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=16,
    in_channels=3,
    out_channels=3,
    layers_per_block=1,
    block_out_channels=(32, 64),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    norm_num_groups=8,
)
scheduler = DDPMScheduler(num_train_timesteps=100)
scheduler.set_timesteps(10)
sample = torch.randn(1, 3, 16, 16)
with torch.no_grad():
    for t in scheduler.timesteps:
        sample = scheduler.step(model(sample, t).sample, t, sample).prev_sample
print(f"{sample.std().item():.3f}")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(2):
    clean, noise, t = torch.randn(2, 3, 16, 16), torch.randn(2, 3, 16, 16), torch.randint(0, 100, (2,))
    loss = torch.nn.functional.mse_loss(model(scheduler.add_noise(clean, noise, t), t).sample, noise)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, f"{loss.item():.3f}")

"""stable-baselines3: PPO on CartPole, 512 steps."""

import torch
from stable_baselines3 import PPO

torch.set_num_threads(1)
model = PPO(
    "MlpPolicy", "CartPole-v1", n_steps=128, batch_size=64, n_epochs=2, seed=0, device="cpu", verbose=0
)
model.learn(512)
print(f"{sum(p.abs().sum().item() for p in model.policy.parameters()):.1f}")

"""Hidden states are clamped where their dtype is a short one and they have overflown.

kind: fell back to eager
advice: torch.where

Made after https://github.com/huggingface/transformers/pull/36712
"""

import torch
from torch import nn


class EncoderLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, dim * 2)
        self.fc2 = nn.Linear(dim * 2, dim)

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = self.norm(hidden_states)
        hidden_states = self.fc2(torch.nn.functional.gelu(self.fc1(hidden_states)))
        hidden_states = residual + hidden_states
        if hidden_states.dtype == torch.bfloat16 and (  # cause
            torch.isinf(hidden_states).any() or torch.isnan(hidden_states).any()
        ):
            clamp_value = torch.finfo(hidden_states.dtype).max - 1000
            hidden_states = torch.clamp(hidden_states, min=-clamp_value, max=clamp_value)
        return hidden_states


class Encoder(nn.Module):
    def __init__(self, dim=16, layers=3):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(dim) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
encoder = Encoder().to(torch.bfloat16).eval()
encoder.forward = torch.compile(encoder.forward, backend="eager")
with torch.no_grad():
    for _ in range(4):
        out = encoder(torch.randn(2, 5, 16, dtype=torch.bfloat16))
        print(round(out.float().mean().item(), 3), out.shape)

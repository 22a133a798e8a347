"""Blocks alike have a processor each, of another name.

kind: recompile limit
advice: isolate_recompiles

Made after https://github.com/huggingface/diffusers/issues/10932
"""

import torch
import torch.nn.functional as F
from torch import nn


class AttnProcessor:
    """Plain object that does the attention of a module, as diffusers has it."""

    def __init__(self, name, scale=1.0):
        self.name, self.scale = name, scale

    def __call__(self, attn, hidden, encoder_hidden):
        mixed = torch.cat([hidden, encoder_hidden], dim=1)
        q, k, v = attn.to_q(hidden), attn.to_k(mixed), attn.to_v(mixed)
        q, k, v = (each.unflatten(-1, (attn.heads, -1)).transpose(1, 2) for each in (q, k, v))
        if self.name.startswith("single"):  # cause
            q = F.normalize(q, dim=-1)
        out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return attn.to_out(out) * self.scale


class Attention(nn.Module):
    def __init__(self, width, heads, processor):
        super().__init__()
        self.heads, self.processor = heads, processor
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, hidden, encoder_hidden):
        return self.processor(self, hidden, encoder_hidden)


class Block(nn.Module):
    def __init__(self, width, number):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attn = Attention(width, 2, AttnProcessor(f"joint.{number}"))

    def forward(self, hidden, encoder_hidden):
        return hidden + self.attn(self.norm(hidden), encoder_hidden)


class Transformer(nn.Module):
    _repeated_blocks = ("Block",)

    def __init__(self, width=16, depth=10):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, number) for number in range(depth))

    def compile_repeated_blocks(self, **options):
        for module in self.modules():
            if type(module).__name__ in self._repeated_blocks:
                module.compile(**options)

    def forward(self, hidden, encoder_hidden):
        for block in self.blocks:
            hidden = block(hidden, encoder_hidden)
        return hidden


torch.manual_seed(0)
transformer = Transformer().eval()
transformer.compile_repeated_blocks(backend="eager")
with torch.no_grad():
    latents, prompt = torch.randn(1, 6, 16), torch.randn(1, 3, 16)
    for timestep in range(3):
        latents = latents - 0.1 * transformer(latents, prompt)
print(f"{latents.abs().mean().item():.5f}")

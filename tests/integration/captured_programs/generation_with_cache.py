"""A generation loop with a key-value cache that grows, greedy and sampled, until an end token."""

import torch
from torch import nn

torch.manual_seed(0)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(11, 8), nn.Linear(8, 24), nn.Linear(8, 11)

    def forward(self, tokens, cache=None):
        q, k, v = self.qkv(self.embed(tokens)).chunk(3, -1)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
        return self.out(attended), (k, v)


@torch.no_grad()
def generate(model, tokens, count, temperature):
    cache, inputs = None, tokens
    for _ in range(count):
        logits, cache = model(inputs, cache)
        logits = logits[:, -1]
        if temperature:
            inputs = torch.multinomial((logits / temperature).softmax(-1), 1)
        else:
            inputs = logits.argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, inputs], 1)
        if (inputs == 10).all():
            break
    return tokens, cache[0].shape


model = Decoder().eval()
for temperature in (0, 1.0, 0.7):
    print(generate(model, torch.tensor([[1, 2, 3]]), 12, temperature))
print(torch.rand(1).item())

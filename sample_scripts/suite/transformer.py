"""A small transformer encoder with its own attention, norm and gated feed-forward."""

import sys

import torch
from _loops import infer, train
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention, silu

WIDTH, HEADS, TOKENS, WORDS = 128, 4, 32, 500


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.projections = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.up, self.gate = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, _ = x.shape
        heads = self.projections(self.norms[0](x)).view(batch, tokens, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(*heads.unbind()).transpose(1, 2).reshape(x.shape)
        x = x + self.output(attended)
        y = self.norms[1](x)
        return x + self.down(silu(self.gate(y)) * self.up(y))


class Encoder(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(layers)))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedding(words)))


torch.manual_seed(0)
model, words = Encoder(), torch.randint(WORDS, (4, TOKENS))
if "--train" in sys.argv:
    train(model, lambda scores: cross_entropy(scores.flatten(0, 1), words.flatten()), words)
else:
    infer(model, words)

"""A small language model, trained on its own source, with what slows it down: the program of the tutorial."""

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def forward(self, x, mask):
        normed = self.norms[0](x)
        x = x + self.attention(normed, normed, normed, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, symbols=128, width=64, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(symbols, width)
        self.blocks = nn.ModuleList(Block(width, heads=4) for _ in range(layers))
        self.head = nn.Linear(width, symbols)
        self.largest = 0.0

    def forward(self, text):
        x = self.embedding(text)
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1])
        for block in self.blocks:
            x = block(x, mask)
        logits = self.head(x)
        self.largest = max(self.largest, logits.abs().max().item())
        return logits


def loss_of(model, text, smoothing):
    logits = model(text[:, :-1]).flatten(0, 1)
    return functional.cross_entropy(logits, text[:, 1:].flatten(), label_smoothing=smoothing)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    steps = parser.parse_args().steps

    torch.manual_seed(0)
    source = torch.tensor(list(Path(__file__).read_bytes()))
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    compiled = torch.compile(loss_of)
    for step in range(steps):
        starts = torch.randint(len(source) - 33, (8,))
        text = torch.stack([source[start : start + 33] for start in starts])
        loss = compiled(model, text, smoothing=0.1 * (1 - step / steps))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 9:
            print(f"step {step + 1:3d}  loss {loss.item():.4f}  largest logit {model.largest:.2f}")


if __name__ == "__main__":
    main()

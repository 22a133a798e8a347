"""A runner knows the blocks of tokens that it has seen by their text.

kind: graph break
advice: and pass in what it gives

Made after a pattern of vLLM (its prefix cache).
"""

import torch
from torch import nn


class BlockManager:
    def __init__(self, block):
        self.block = block
        self.seen = {}

    def allocate(self, tokens):
        parent, hits = "", 0
        for begin in range(0, len(tokens), self.block):
            parent += ",".join(map(str, tokens[begin : begin + self.block]))
            hits += parent in self.seen
            self.seen[parent] = len(self.seen)
        return hits


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        return x + self.mix(x).cumsum(1) * self.gate(x).sigmoid() / x.shape[1]


class Runner(nn.Module):
    def __init__(self, vocab=40, width=16):
        super().__init__()
        self.manager = BlockManager(4)
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(3))
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens, hits):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, -1]), hits


torch.manual_seed(0)
runner = Runner().eval()
compiled = torch.compile(runner, backend="eager")
requests = [torch.randint(0, 40, (1, 12)) for _ in range(3)]
requests.append(requests[0].clone())
with torch.no_grad():
    for tokens in requests:
        logits, hits = compiled(tokens, runner.manager.allocate(tokens[0].tolist()))
        print(hits, logits.argmax().item(), f"{logits.max().item():.4f}")

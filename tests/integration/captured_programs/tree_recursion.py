"""A recursive network over trees of the program's own objects: every tree is another graph."""

from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(0)


@dataclass
class Tree:
    word: int | None = None
    children: tuple = ()


class TreeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.merge, self.out = nn.Embedding(5, 4), nn.Linear(8, 4), nn.Linear(4, 2)

    def encode(self, tree):
        if tree.word is not None:
            return self.words(torch.tensor(tree.word))
        left, right = (self.encode(child) for child in tree.children)
        return torch.tanh(self.merge(torch.cat([left, right])))

    def forward(self, tree, scale):
        return self.out(self.encode(tree)) * scale


model = TreeNet()
leaves = [Tree(word=i) for i in range(4)]
pair = Tree(children=(leaves[0], leaves[1]))
trees = [
    leaves[2],
    pair,
    Tree(children=(pair, leaves[3])),
    Tree(children=(leaves[1], Tree(children=(pair, pair)))),
]
for tree in trees:
    model.zero_grad()
    out = model(tree, torch.tensor(2.0))
    out.sum().backward()
    print(out.tolist(), model.words.weight.grad.abs().sum(1).tolist())
    print(model.merge.weight.grad is None)

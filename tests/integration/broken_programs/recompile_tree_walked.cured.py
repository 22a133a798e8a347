import torch


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right


@torch.compile(backend="eager")
def combined(value, left, right):
    return value + torch.tanh(left) * torch.sigmoid(right)


def encoded(tree):
    if tree.left is None:
        return tree.value
    return combined(tree.value, encoded(tree.left), encoded(tree.right))


def leaf():
    return Tree(torch.ones(4))


balanced = Tree(torch.ones(4), Tree(torch.ones(4), leaf(), leaf()), leaf())
right = Tree(torch.ones(4), leaf(), Tree(torch.ones(4), leaf(), leaf()))
deep = Tree(torch.ones(4), Tree(torch.ones(4), leaf(), Tree(torch.ones(4), leaf(), leaf())), leaf())
for tree in (balanced, right, deep):
    print(encoded(tree).sum().item())

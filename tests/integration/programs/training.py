"""Train small models under a backend, and print what each compiled forward really saves for its backward.

A line of JSON each: [model, tensors, bytes, tensors with the memory of an input, bytes of other storages].
"""

import json
import sys
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.norm = nn.LayerNorm(32)
        self.mlp = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return x + self.mlp(self.norm(x))


class Broken(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.a(x).relu()
        torch._dynamo.graph_break()
        return self.b(x).sigmoid()


class Checkpointed(Broken):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(checkpoint(lambda y: self.a(y).exp().sin(), x, use_reentrant=False)).tanh()


class Mixed(Broken):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.b(self.a(x).relu()).float()


def convolutions() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)),
    )


MODELS: dict[str, Any] = {
    "block": (Block, (4, 8, 32)),
    "dynamic": (Block, (4, 8, 32)),
    "convolutions": (convolutions, (2, 3, 16, 16)),
    "broken": (Broken, (4, 16)),
    "checkpointed": (Checkpointed, (4, 16)),
    "mixed": (Mixed, (4, 16)),
}


def train(name: str, backend: str) -> None:
    make, shape = MODELS[name]
    model = make()
    optimizer = torch.optim.AdamW(model.parameters())
    compiled = torch.compile(model, backend=backend, dynamic=name == "dynamic")
    x = torch.randn(*shape)
    loss = compiled(x).square().mean()
    given = {tensor.untyped_storage().data_ptr() for tensor in [*model.parameters(), *model.buffers(), x]}
    print(*(json.dumps([name, *saved(node, given)]) for node in forwards(loss.grad_fn)), sep="\n")
    loss.backward()
    optimizer.step()


def forwards(node: Any) -> list[Any]:
    """What autograd keeps of each compiled forward below `node`, the first called first."""
    found: list[Any] = []
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop(0)
        if node is None or node in seen:
            continue
        seen.add(node)
        if "CompiledFunction" in node.name():
            found.insert(0, node)
        waiting += [following for following, _ in node.next_functions]
    return found


def saved(node: Any, given: set[int]) -> tuple[int, int, int, int]:
    tensors = [*node.saved_tensors, *getattr(node, "_tensors_no_vc_check", ())]
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return (
        len(tensors),
        sum(tensor.numel() * tensor.element_size() for tensor in tensors),
        sum(tensor.untyped_storage().data_ptr() in given for tensor in tensors),
        sum(size for at, size in storages.items() if at not in given),
    )


def compiled_step() -> None:
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 4)).sum().backward()
    torch.compile(optimizer.step, backend="eager")()


if __name__ == "__main__":
    torch.manual_seed(0)
    backend, *names = sys.argv[1:]
    for name in names or MODELS:
        train(name, backend)
    if not names:
        compiled_step()

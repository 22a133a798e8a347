"""The loops that the programs of this folder share: some steps of inference, or of training."""

from collections.abc import Callable

import torch

STEPS = 24


def infer(model: torch.nn.Module, *inputs: torch.Tensor) -> None:
    """Call the model again and again, and print what came out."""
    model.eval()
    with torch.no_grad():
        for _ in range(STEPS):
            output = model(*inputs)
    print(f"mean of the output {output.float().mean().item():.4f}")


def train(
    model: torch.nn.Module,
    loss_of: Callable[[torch.Tensor], torch.Tensor],
    *inputs: torch.Tensor,
) -> None:
    """Train on the same batch, and print the loss."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        loss = loss_of(model(*inputs))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0:
            print(f"step {step}  loss {loss.item():.3f}")

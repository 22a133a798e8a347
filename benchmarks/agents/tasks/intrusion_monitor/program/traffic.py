"""Connections of a network, some of which are attacks."""

import torch

FEATURES = 7


def make_connections(count: int, attacks: int, generator: torch.Generator) -> torch.Tensor:
    """Features of connections; the attacks come first, and differ in all of them."""
    connections = torch.randn(count, FEATURES, generator=generator)
    connections[:attacks] += 2.5
    return connections

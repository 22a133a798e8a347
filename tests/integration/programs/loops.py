"""Loops around modules and in them, as generation, recurrence and deep models have them."""

import sys

import torch

STEPS = 300


class Cell(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gates = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.gates(x) + h.sin() * x.cos())


class OverTime(torch.nn.Module):
    def __init__(self, cell: torch.nn.Module) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(x.size(0), 8)
        for t in x.split(1, dim=1):
            h = self.cell(t.squeeze(1), h)
        return h


class Deep(torch.nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Cell() for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, x)
        return x


class Encoder(torch.nn.Module):
    """Its loop lies in a module that it calls."""

    def __init__(self) -> None:
        super().__init__()
        self.over_time = OverTime(Cell())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.over_time(x) * 2


def over_time() -> torch.Tensor:
    return OverTime(Cell())(torch.ones(2, STEPS, 8))


def over_time_with_torchs_cell() -> torch.Tensor:
    return OverTime(torch.nn.GRUCell(8, 8))(torch.ones(2, STEPS, 8))


def over_time_inside() -> torch.Tensor:
    return Encoder()(torch.ones(2, STEPS, 8))


def over_layers() -> torch.Tensor:
    return Deep(60)(torch.ones(2, 8))


def generates() -> torch.Tensor:
    cell = Cell()

    def generate(x: torch.Tensor) -> torch.Tensor:
        while x.size(0) < STEPS:
            x = torch.cat((x, cell(x, x).mean(0, keepdim=True)))
        return x

    return generate(torch.ones(1, 8)).sum(0)


if __name__ == "__main__":
    torch.manual_seed(0)
    print(globals()[sys.argv[1]]().detach().sum())

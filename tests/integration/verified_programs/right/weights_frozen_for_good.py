"""A backend of the program's own keeps the weights, and nobody changes them."""

import torch


def freezing(gm, example_inputs):
    """Keep the weights as they are now, and ask for the other inputs alone."""
    places = [node for node in gm.graph.nodes if node.op == "placeholder"]
    kept = {at for at, node in enumerate(places) if "parameters" in node.name}
    frozen = {at: example_inputs[at].detach().clone() for at in kept}

    def call(*given):
        return gm.forward(*(frozen.get(at, value) for at, value in enumerate(given)))

    return call


class Encoder(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, values):
        self.calls.add_(1)
        hidden = torch.tanh(self.first(values))
        return torch.relu(hidden + self.second(hidden)) / self.calls


torch.manual_seed(0)
compiled = torch.compile(Encoder(4), backend=freezing)
with torch.no_grad():
    for batch in torch.linspace(-1.0, 1.0, 16).view(2, 2, 4):
        print(compiled(batch).tolist())

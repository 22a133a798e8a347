"""A backend of the program's own keeps the weights; the program has changed one layer since.

An idea of our own.
kind: value
stage: freezing
"""

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
        self.third = torch.nn.Linear(width, 1)

    def encoded(self, values):
        hidden = torch.tanh(self.first(values))
        hidden = hidden + self.second(hidden)  # cause
        return torch.relu(hidden)

    def forward(self, values):
        hidden = self.encoded(values)
        hidden = hidden - hidden.mean()
        return self.third(hidden).squeeze(-1)


torch.manual_seed(0)
encoder = Encoder(4)
compiled = torch.compile(encoder, backend=freezing)
batch = torch.linspace(-1, 1, 8).view(2, 4)
with torch.no_grad():
    print(compiled(batch).tolist())
    for parameter in encoder.second.parameters():
        parameter.add_(0.5)
    print(compiled(batch).tolist())

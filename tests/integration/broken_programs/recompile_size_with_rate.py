"""A length that varies, and with it a float on the module, which torch makes dynamic by no name.

kind: recompile
advice: dynamic=True
"""

import torch


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 1.0

    def forward(self, scores):
        return scores / self.temperature  # cause


torch.manual_seed(0)
decoder = Decoder()
compiled = torch.compile(decoder, backend="eager")
for step in range(6):
    decoder.temperature = 1 / (1 + step * 0.1)
    print(round(compiled(torch.ones(4, 8 + step % 3)).sum().item(), 4))

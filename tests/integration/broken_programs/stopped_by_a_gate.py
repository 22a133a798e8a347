"""A decoder sets a flag once its gate is open, and who calls it stops then.

kind: graph break
advice: after the call of `Decoder.decode`

Made after https://github.com/pytorch/torchdynamo/issues/330
"""

import torch


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.gate = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
        self.finished = False

    def decode(self, frame):
        out = self.cell(frame).tanh()
        gate = self.gate(out).sigmoid().max()
        if gate.item() > 0.6:  # cause
            self.finished = True
        return out * 2


torch.manual_seed(0)
decoder = Decoder()
step = torch.compile(decoder.decode, backend="eager")
frame = torch.ones(2, 4)
with torch.no_grad():
    for number in range(6):
        frame = step(frame)
        print(number, round(frame.sum().item(), 4), decoder.finished)

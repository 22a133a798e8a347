"""The last frames are kept in a list, and their mean is the background.

kind: recompile limit
advice: in one tensor of a fixed size
"""

import torch


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.frames = []

    def forward(self, frame):
        self.frames.append(frame)  # cause
        background = torch.stack(self.frames).mean(0)
        return (frame - background).relu()


policy = Policy()
compiled = torch.compile(policy, backend="eager")
for number in range(12):
    print(round(compiled(torch.full((4,), float(number))).sum().item(), 3))

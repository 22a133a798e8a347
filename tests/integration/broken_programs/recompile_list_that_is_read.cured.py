import torch


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("frames", torch.zeros(12, 4))
        self.register_buffer("is_seen", torch.zeros(12))

    def forward(self, frame):
        self.frames = torch.cat([self.frames[1:], frame[None]])
        self.is_seen = torch.cat([self.is_seen[1:], torch.ones(1)])
        background = (self.is_seen[:, None] * self.frames).sum(0) / self.is_seen.sum()
        return (frame - background).relu()


policy = Policy()
compiled = torch.compile(policy, backend="eager")
for number in range(12):
    print(round(compiled(torch.full((4,), float(number))).sum().item(), 3))

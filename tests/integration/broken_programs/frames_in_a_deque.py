"""An agent stacks its last frames, which it keeps in a deque.

kind: fell back to eager
advice: with all that works on that object

Made after a pattern common in reinforcement learning (frame stacking by deque(maxlen=4)).
"""

from collections import deque

import torch
from torch import nn


class FrameStack:
    def __init__(self, size):
        self.frames = deque(maxlen=size)

    def push(self, frame):
        self.frames.append(frame)
        pad = [torch.zeros_like(frame)] * (self.frames.maxlen - len(self.frames))  # cause
        return torch.stack(pad + list(self.frames), dim=1)


class Agent(nn.Module):
    def __init__(self, actions=3):
        super().__init__()
        self.stack = FrameStack(4)
        self.conv = nn.Conv2d(4, 6, 3)
        self.head = nn.Linear(6, actions)

    def forward(self, frame):
        x = self.stack.push(frame)
        x = self.conv(x).relu().mean((2, 3))
        return self.head(x)


torch.manual_seed(0)
agent = torch.compile(Agent(), backend="eager")
with torch.no_grad():
    for t in range(8):
        q = agent(torch.rand(1, 8, 8))
        print(t, int(q.argmax()), f"{q.sum().item():.4f}")

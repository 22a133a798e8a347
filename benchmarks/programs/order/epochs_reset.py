"""Forgets what was compiled at the end of each epoch, and prints within the step. By Inductor.

Five epochs compile five times; without the reset once. The print splits one small graph off.
"""
# first: reset
# cure reset: torch._dynamo.reset() => pass
# cure note: print(NOTE) => pass

import torch


class Note:
    def __str__(self):
        return "half way"


NOTE = Note()


def step(x):  # cause: reset
    for _ in range(3):
        x = torch.sigmoid(x @ x) + x.mean()
    print(NOTE)  # cause: note
    return x.cos() * 2


compiled = torch.compile(step)
with torch.no_grad():
    for _ in range(5):
        for _ in range(3):
            compiled(torch.ones(16, 16))
        torch._dynamo.reset()

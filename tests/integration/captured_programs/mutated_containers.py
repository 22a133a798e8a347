"""Functions that write into the program's lists, dicts, sets and objects, and into default arguments."""

import torch

torch.manual_seed(0)
history, total = [], 0


class Meter:
    __slots__ = ("count", "sum")

    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value):
        self.sum = self.sum + value
        self.count += 1


def step(x, memory, meter, seen=[]):  # noqa: B006
    global total
    total += 1
    y = x * len(seen) + memory.get("last", 0)
    memory["last"] = y
    memory.setdefault("all", []).append(y.sum())
    seen.append(total)
    history[:] = [y, *history][:2]
    meter.update(y.mean())
    return y, tuple(seen)


memory, meter = {}, Meter()
for i in range(4):
    y, seen = step(torch.tensor([1.0, i]), memory, meter)
    print(y.tolist(), seen, total, memory["last"] is y, history[0] is y, len(history))
print([t.item() for t in memory["all"]], meter.sum.item(), meter.count, list(memory))
